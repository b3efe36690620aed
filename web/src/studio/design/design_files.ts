/** The files of a folder or of a choice that may say something about a design system, for the server to read. */

const USED = /(\.css|\.scss|\.less|\.pcss|\.tsx|\.jsx|\.vue|\.svelte|\.astro|\.md|\.txt)$|tailwind[\w.]*\.config\.[cm]?[jt]s$|\.(stories|story)\.[\w]+$|tokens?[^/]*\.json$|tokens?\/.*\.json$|(theme|themes|tokens?|colou?rs?|palette|typography|spacing|styles?|variables|layout|_app|fonts?)(\/index)?\.[cm]?[jt]s$/i;
const SKIPPED = /(^|\/)(node_modules|bower_components|vendor|dist|build|out|coverage|storybook-static|\.[^/]+)\//;
/** Characters of a file, and of all of them. */
const LONGEST = 200_000;
const MOST = 6_000_000;
const MOST_FILES = 3000;

export async function designFiles(list: Iterable<File>): Promise<Record<string, string>> {
  const chosen = [...list];
  const files: Record<string, string> = {};
  let total = 0;
  for (const file of chosen) {
    const path = pathOf(file);
    if (chosen.length > 1 && (SKIPPED.test(path) || !USED.test(path) || /\.(md|txt)$/.test(path) !== (path === "design.md"))) continue;
    if (file.size > LONGEST || total + file.size > MOST || Object.keys(files).length >= MOST_FILES) continue;
    files[path] = await file.text();
    total += file.size;
  }
  return files;
}

/** The path below the folder that was chosen. */
function pathOf(file: File): string {
  const path = file.webkitRelativePath;
  return path === "" ? file.name : path.slice(path.indexOf("/") + 1);
}
