from referee import load

slugify = load("textkit").slugify
assert slugify is load("textkit.slugs").slugify
assert slugify("Hello, World!") == "hello-world"
assert slugify("  A -- B  ") == "a-b"
assert slugify("Version 2.0 is out", separator="_") == "version_2_0_is_out"
assert slugify("a+b", "+") == "a+b"
assert slugify("Tea & Coffee", separator="") == "teacoffee"
assert slugify("!!!") == ""
assert load("textkit").snake_case("OrderLine") == "order_line"
assert load("textkit.slugs").shorten("abc-def", 4) == "abc"
