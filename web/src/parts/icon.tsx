/** Small line drawings, 16 by 16. */

const PATHS = {
  plus: "M8 3v10M3 8h10",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  close: "m4 4 8 8M12 4l-8 8",
  chat: "M2.5 3.5h11v7.5h-6l-3 2.5V11h-2z",
  grid: "M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z",
  gear: "M8 5.6a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4l3.1 3.1",
  send: "M8 13V3.5M4 7.2 8 3l4 4.2",
  stop: "M4.5 4.5h7v7h-7z",
  image: "M2.5 3h11v10h-11zM2.5 11l3.2-3.4 2.6 2.6 1.8-1.7 3.4 3M10.5 6.2h.01",
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.8 0l2-2a2.7 2.7 0 0 0-3.8-3.8l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.8 0l-2 2a2.7 2.7 0 0 0 3.8 3.8l.8-.8",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  file: "M4 1.8h5l3.2 3.2v9.2H4zM8.8 2v3.2H12",
  folder: "M2 4h4l1.5 1.8H14v7H2z",
  check: "m3.2 8.4 3 3 6.6-7",
  alert: "M8 2.2 14.2 13H1.8zM8 6.4v3.2M8 11.4h.01",
  info: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.4v3.4M8 5.2h.01",
  down: "m4 6 4 4 4-4",
  right: "m6 4 4 4-4 4",
  reload: "M13 8a5 5 0 1 1-1.6-3.7M13.2 2.4v2.8h-2.8",
  open: "M9.5 2.5h4v4M13.3 2.7 7.8 8.2M11.5 9.5v4h-9v-9h4",
  desktop: "M2 3h12v8H2zM6 13.5h4M8 11v2.5",
  tablet: "M4 2h8v12H4zM7.6 12h.8",
  mobile: "M5 1.8h6v12.4H5zM7.6 12.4h.8",
  pointer: "M3.5 3 7 13l1.6-4.4L13 7z",
  history: "M2.6 8a5.4 5.4 0 1 0 1.7-4M2.5 2.5v3h3M8 5v3.2l2.2 1.4",
  layers: "M8 2.2 14 5.4 8 8.6 2 5.4zM2.4 8.2 8 11.2l5.6-3M2.4 11 8 14l5.6-3",
  branch: "M4.5 5.5v5M4.5 2.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM4.5 10.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM11.5 4a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM11.5 7c0 2.4-3.4 2.2-6 3.8",
  edit: "M10.6 2.8 13.2 5.4 5.6 13H3v-2.6zM9 4.4 11.6 7",
  trash: "M2.8 4.2h10.4M6 4V2.5h4V4M4.2 4.4l.6 9.1h6.4l.6-9.1",
  download: "M8 2.5v7.2M4.6 6.8 8 10.2l3.4-3.4M2.8 13.2h10.4",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  pulse: "M1.5 8h3L6.2 3.5 9.4 12.5 11.2 8h3.3",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.4v1.4M8 13.2v1.4M1.4 8h1.4M13.2 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
  moon: "M13 9.4A5.6 5.6 0 0 1 6.6 3 5.6 5.6 0 1 0 13 9.4z",
  tool: "M9.8 6.2 13.5 2.5M9 2.6a3.4 3.4 0 0 0-3.6 4.8L2.4 10.4a1.8 1.8 0 0 0 2.6 2.6L8 10a3.4 3.4 0 0 0 4.8-3.6",
  bulb: "M5.8 10.4a4 4 0 1 1 4.4 0v1.6H5.8zM6.4 14h3.2",
  question: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM6.3 6.4a1.8 1.8 0 1 1 2.4 1.7c-.5.2-.7.5-.7 1.1M8 11.2h.01",
  lock: "M3.5 7h9v6.5h-9zM5.4 7V5a2.6 2.6 0 0 1 5.2 0v2",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.8 3.6 3 6.5l2.8 2.8",
  redo: "M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10M10.2 3.6 13 6.5l-2.8 2.8",
  unload: "M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4zM3 13 13 3",
  split: "M2.5 3h11v10h-11zM8 3v10",
  video: "M2 4h8.5v8H2zM10.5 7 14 5v6l-3.5-2z",
  expand: "M6 2.5H2.5V6M10 2.5h3.5V6M6 13.5H2.5V10M10 13.5h3.5V10",
  left: "m10 4-4 4 4 4",
  share: "M11 5.5 5 8.2l6 2.6M12.2 3.2a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM3.8 6.6a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM12.2 9.6a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2z",
  key: "M10 2.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM7.4 8.4 2.5 13.4M4.4 11.6l1.8 1.8",
  drop: "M8 1.8s4.4 4.6 4.4 8a4.4 4.4 0 0 1-8.8 0c0-3.4 4.4-8 4.4-8z",
  compare: "M8 1.8v12.4M2.5 4h3v8h-3zM10.5 4h3v8h-3z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  const heavy = name === "more";
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={heavy ? 2.4 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
