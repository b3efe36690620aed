/** Opens the files of a variant on CodePen and StackBlitz, which accept them as a form in a new tab. */

export const CODEPEN = "https://codepen.io/pen/define";
export const STACKBLITZ = "https://stackblitz.com/run";

/** The fields of a form. */
export type Fields = Record<string, string>;

/** A pen shows one document, so it gets the page that needs nothing else. */
export function penFields(title: string, html: string): Fields {
  return { data: JSON.stringify({ title, html, editors: "100", layout: "left" }) };
}

/** A project with a package is installed and started; any other one is served as it is. */
export function blitzFields(title: string, files: ReadonlyMap<string, string>): Fields {
  const fields: Fields = {
    "project[title]": title,
    "project[template]": files.has("package.json") ? "node" : "html",
  };
  for (const [path, text] of files) fields[`project[files][${path}]`] = text;
  return fields;
}

/** Send a form to an address in a new tab. */
export function postForm(address: string, fields: Fields): void {
  const form = document.createElement("form");
  form.method = "post";
  form.action = address;
  form.target = "_blank";
  form.rel = "noopener";
  for (const [name, value] of Object.entries(fields)) {
    const field = document.createElement("textarea");
    field.name = name;
    field.value = value;
    form.append(field);
  }
  form.hidden = true;
  document.body.append(form);
  form.submit();
  form.remove();
}
