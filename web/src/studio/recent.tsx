import { ago } from "../parts/format";
import { Icon } from "../parts/icon";
import { useFetched } from "../shell/fetched";
import { address } from "../shell/route";
import { projects, type ProjectView } from "../wire/api";
import { Frame } from "./frame";

const MOST = 8;

export function RecentProjects() {
  const recent = useFetched("recent", () => projects.list());
  if (recent.value === null || recent.value.projects.length === 0) return null;
  return (
    <section className="start-section" aria-labelledby="recent">
      <h2 id="recent">Recent projects</h2>
      <div className="project-grid">
        {recent.value.projects.slice(0, MOST).map((project) => (
          <a key={project.id} className="project-card" href={address("project", project.id)}>
            <Thumbnail project={project} />
            <span className="truncate">{project.title || "Untitled"}</span>
            <span className="faint">{ago(project.updated)}</span>
          </a>
        ))}
      </div>
    </section>
  );
}

/** The newest version that has a page. */
function Thumbnail({ project }: { project: ProjectView }) {
  const variants = (project.versions ?? []).map((version) => version.variants[version.chosen] ?? version.variants[0]);
  const shown = variants.findLast((variant) => variant?.status === "completed");
  return (
    <span className="project-thumb" aria-hidden="true">
      {shown === undefined ? <Icon name="grid" size={24} /> : <Frame inert source={{ src: shown.preview }} title={project.title} />}
    </span>
  );
}
