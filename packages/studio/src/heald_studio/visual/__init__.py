"""Changes elements of a page in the source that makes them: HTML, JSX and Vue templates, with CSS or Tailwind."""
