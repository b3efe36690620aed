"""Parts of a page that are put into the page of another variant, with the rules that style them."""
