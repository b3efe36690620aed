/** The bodies and views of the API. Made from its OpenAPI document by scripts/make_api_types.py. */

import type { Message } from "./content.js";
import type { Json, JsonObject, ApprovalRequested, ClientToolRequested, ErrorInfo, QuestionAsked, SessionForked, Usage } from "./events.generated.js";
import type { LogEvent as Event } from "./events.js";

export interface Accepted {
  exchange: string;
  state: "queued" | "repeated" | "started" | "steered";
  seq: number;
}

export interface ActionView {
  id: string;
  text: string;
  version: string;
}

export interface AgentView {
  name: string;
  description: string;
  model: string;
  handoffs: string[];
}

export interface AgentsQuery {
  workspace?: string | null;
}

export interface AgentsView {
  agents: AgentView[];
}

export interface AgreeBody {
  digest: string;
}

export interface AnswerBody {
  answer: string;
}

export interface BaseBody {
  version: string;
  variant: number;
}

export interface BeginBody {
  title: string;
}

export interface BlobView {
  blob: string;
}

export interface BranchView {
  branch: string;
  base: string;
  changed: string[];
  commits: number;
}

export interface Budget {
  turns?: number;
  tokens?: number | null;
  usd?: number | null;
  seconds?: number | null;
  message_tokens?: number | null;
}

export interface CancelBody {
  exchange?: string | null;
  reason?: string;
}

export interface Cancelled {
  cancelled: boolean;
}

export interface Capabilities {
  screenshot_preview: boolean;
}

export interface Capture {
  url: string;
}

export interface CaptureBody {
  url: string;
  apiKey?: string | null;
}

export interface CaptureOptions {
  width?: number | null;
  full_page?: boolean;
}

export interface Cause {
  path: string;
  tag: string;
  text: string;
  place: CausePlace | null;
  lines: CauseLines[];
  writings: Writing[];
}

export interface CauseLine {
  number: number;
  text: string;
  writing: number;
}

export interface CauseLines {
  file: string;
  kind: "markup" | "style";
  lines: CauseLine[];
  cut: number;
}

export interface CausePlace {
  picture: string;
  width: number;
  height: number;
  rect: [number, number, number, number];
  found_by: "position" | "shape" | "text";
  likeness: number;
}

export interface CauseQuery {
  path: string;
  page?: string;
}

export interface ChangeView {
  path: string;
  kind: "changed" | "created" | "deleted";
  base: string | null;
  hash: string | null;
  problem: string;
}

export interface ChangesView {
  changes: ChangeView[];
}

export interface ClientToolsView {
  tools: ToolDefinition[];
}

export interface CommandsView {
  dev: string;
  script: string;
  install: string;
  test: string;
  digest: string;
  agreed: boolean;
}

export interface CommitBody {
  message: string;
}

export interface ComparedFolders {
  folder1: string;
  folder2?: string;
  folder3?: string;
  folder4?: string;
  folder5?: string;
  folder6?: string;
  folder7?: string;
  folder8?: string;
  folder9?: string;
}

export interface ComparedPages {
  input: string;
  outputs: string[];
}

export interface Comparison {
  evals: ComparedPages[];
  folder_names: string[];
}

export interface ComparisonBody {
  left_json: string;
  right_json: string;
}

export interface DecisionBody {
  decision: "approve" | "deny";
  digest?: string | null;
  always?: boolean;
  arguments?: JsonObject | null;
  reason?: string;
}

export interface Defaults {
  stack: string;
  variants_create: number;
  variants_update: number;
  models: string[];
}

export interface DelegateView {
  session: string;
  call_id: string;
  last_seq: number;
}

export interface DelegatesView {
  delegates: DelegateView[];
}

export interface Delivery {
  id: string;
  endpoint: string;
  type: "approval.waiting" | "budget.reached" | "exchange.ended" | "question.waiting";
  root: string;
  session: string;
  seq: number;
  time: number;
  node?: string;
  state?: "dead" | "delivered" | "pending";
  attempts?: number;
  next_at?: number;
  problem?: string;
}

export interface DeliveryList {
  deliveries: Delivery[];
}

export interface DeliveryQuery {
  state?: "dead" | "delivered" | "pending" | null;
}

export interface DesignBody {
  text: string;
}

export interface DesignPageQuery {
  page?: string;
}

export interface DesignScore {
  share: number | null;
  kinds: KindScore[];
  strays: StrayValue[];
  is_cut: boolean;
}

export interface DesignSourceBody {
  url?: string;
  repository?: string;
  files?: Record<string, string>;
  name?: string;
}

export interface DesignSystemChange {
  name?: string | null;
  content?: string | null;
}

export interface DesignToken {
  kind: "color" | "font" | "radius" | "size" | "space";
  name: string;
  value: string;
  mode?: string;
}

export interface DesignView {
  name: string;
  text: string;
  tokens: DesignToken[];
}

export interface DiffQuery {
  against: string;
}

export interface DiffView {
  diff: string;
}

export interface DifferenceView {
  kind: string;
  box: [number, number, number, number];
  sentence: string;
}

export interface Diffs {
  files: FileDiff[];
}

export interface DocumentBody {
  name: string;
  data: string;
}

export interface EditBody {
  kind: "edit";
  base: BaseBody;
  files: Record<string, string | null>;
}

export interface ElementBody {
  kind: "element";
  base: BaseBody;
  path: string;
  text?: string | null;
  before?: string;
  page?: string;
  style?: Record<string, string>;
  attributes?: Record<string, string>;
}

export interface ElementChangeBody {
  element: RenderedBody;
  text?: string | null;
  before?: string;
  style?: Record<string, string>;
  rules?: Record<string, string>;
  attributes?: Record<string, string>;
  move?: MoveBody | null;
}

export interface ElementsBody {
  kind: "elements";
  base: BaseBody;
  changes: ElementChangeBody[];
  page?: string;
  width?: number;
  below?: number;
}

export type Empty = JsonObject;

export interface EndpointBody {
  url: string;
  kind?: "ntfy" | "push" | "webhook";
  events?: ("approval.waiting" | "budget.reached" | "exchange.ended" | "question.waiting")[];
  secret?: string;
  public_key?: string;
}

export interface EndpointList {
  webhooks: EndpointView[];
}

export interface EndpointView {
  id: string;
  kind: "ntfy" | "push" | "webhook";
  url: string;
  events: ("approval.waiting" | "budget.reached" | "exchange.ended" | "question.waiting")[];
  secret: string;
  created: number;
  disabled: string;
  pending?: number;
  dead?: number;
}

export interface ErrorBody {
  error: ErrorDetail;
}

export interface ErrorDetail {
  code: "budget" | "busy" | "conflict" | "forbidden" | "internal" | "invalid" | "invalid_cursor" | "method_not_allowed" | "no_keyring" | "not_found" | "too_large" | "too_many" | "unauthorized" | "unavailable" | "unsupported_media_type";
  message: string;
}

export interface EvaluationInput {
  name: string;
  path: string;
}

export interface EvaluationRun {
  models: string[];
  stack: string;
  files?: string[];
  diff_mode?: boolean;
}

export interface Evidence {
  session: string;
  seq: number;
}

export interface Example {
  name: string;
  title: string;
  thumbnail?: string | null;
}

export interface ExportBody {
  code: string;
  baseUrl?: string;
}

export interface ExportQuery {
  format?: "html" | "zip";
  page?: string;
}

export interface Fact {
  id: string;
  text: string;
  about: "decision" | "person" | "project";
  evidence?: Evidence[];
  scope?: "lasting" | "session";
  time?: number;
}

export interface FactBody {
  text?: string | null;
}

export interface FileDiff {
  path: string;
  diff: string;
}

export interface FilePart {
  type: "file";
  media_type: string;
  data?: string | null;
  blob?: string | null;
  url?: string | null;
  name?: string | null;
}

export interface FileQuery {
  revision?: number | null;
}

export interface FileView {
  path: string;
  size: number;
  revision: number;
}

export interface FilesView {
  files: FileView[];
  cut: boolean;
}

export interface ForgottenView {
  forgotten: number;
}

export interface ForkBody {
  at?: number | null;
  title?: string | null;
  change?: ForkChangeBody | null;
}

export interface ForkChangeBody {
  model?: string | null;
  prompt?: string | null;
  result?: ForkedResult | null;
  approval?: ForkDecision | null;
  call?: string | null;
}

export interface ForkDecision {
  decision: "approve" | "deny";
  arguments?: JsonObject | null;
  reason?: string;
}

export interface ForkedResult {
  content: Json;
  is_error?: boolean;
}

export interface GalleryItem {
  name: string;
  title: string;
  description: string;
  stack: string;
  thumbnail: string;
}

export interface HealthView {
  status: string;
  version?: string | null;
  sandbox?: string | null;
  exchanges?: number | null;
  tasks?: Record<string, number> | null;
}

export interface HostBody {
  host: string;
}

export interface Hunk {
  text: string;
  added: number;
  removed: number;
}

export interface HunksView {
  path: string;
  kind: "changed" | "created" | "deleted";
  base: string | null;
  hash: string | null;
  problem: string;
  hunks: Hunk[] | null;
}

export interface ImagePart {
  type: "image";
  media_type?: string;
  data?: string | null;
  blob?: string | null;
  url?: string | null;
}

export interface InputComparison {
  common_prefix_items: number;
  left_item_count: number;
  right_item_count: number;
  difference: InputDifference | null;
  formatted: string;
}

export interface InputDifference {
  item_index: number;
  path: string;
  left_summary: string;
  right_summary: string;
  left_value: Json;
  right_value: Json;
}

export interface JobView {
  command: string;
  status: "failed" | "passed" | "running";
  output: string;
}

export interface JudgementBody {
  decision: "accept" | "revert";
  base: string | null;
  hash: string | null;
  hunks?: number[] | null;
}

export interface KeyBody {
  key: string;
}

export interface KeyTest {
  ok: boolean;
  message: string;
}

export interface KeyTestBody {
  model?: string;
}

export interface KindScore {
  kind: "color" | "font" | "radius" | "size" | "space";
  kept: number;
  total: number;
}

export interface ListQuery {
  search?: string;
  limit?: number;
  after?: string | null;
}

export interface LockBody {
  base: BaseBody;
  kind: "element" | "file" | "style" | "text";
  path?: string;
  text?: string;
  page?: string;
  file?: string;
}

export interface LockView {
  id: string;
  kind: "element" | "file" | "style" | "text";
  label: string;
  version: string;
  variant: number;
  page: string;
  path: string;
  text: string;
  file: string;
  author: "model" | "person";
  created: number;
}

export interface LogQuery {
  after?: number;
  limit?: number;
}

export interface LogView {
  events: Event[];
  last_seq: number;
}

export interface LoginBody {
  token: string;
}

export interface MemoryView {
  facts: Fact[];
  enabled?: boolean;
}

export interface MessagesView {
  messages: Message[];
  seq: number;
}

export interface ModelOffer {
  name: string;
  label: string;
  provider?: string;
  available?: boolean;
  is_general?: boolean;
  text?: boolean;
  vision?: boolean | null;
  stacks?: string[] | null;
  context_window?: number | null;
  input_usd_per_million?: number | null;
  output_usd_per_million?: number | null;
  speed?: "fast" | "medium" | "slow";
}

export interface ModelView {
  name: string;
  provider: string;
  label?: string;
}

export interface ModelsView {
  models: string[];
  default: string;
  details: ModelView[];
  session: SessionDefaults;
  fixed?: boolean;
}

export interface MoveBody {
  target: RenderedBody;
  place: "after" | "before";
}

export interface NewDesignSystem {
  name?: string;
  content?: string;
}

export interface NewFactBody {
  text: string;
  about?: "decision" | "person" | "project";
}

export interface NewProject {
  prompt: PromptBody;
  stack?: string;
  models?: string[];
  variants?: number | null;
  design_system?: string;
  draft?: boolean;
  title?: string;
}

export interface NewSession {
  model?: string;
  agent?: string;
  tools?: string[];
  instructions?: string;
  permissions?: "ask" | "auto" | "inside" | "read-only";
  rules?: string[];
  workspace?: string | null;
  budget?: Budget | null;
  temperature?: number | null;
  max_output_tokens?: number | null;
  reasoning?: Reason | null;
  extra?: JsonObject;
  cache?: boolean;
  client_tools?: Json[];
  title?: string;
}

export interface NewShare {
  writable?: boolean;
}

export interface PageBody {
  kind: "page";
  base: BaseBody;
  action: "add" | "delete" | "rename";
  path?: string;
  name?: string;
}

export interface PartBody {
  path: string;
  place?: "after" | "before" | "replace";
  source: BaseBody;
  source_path: string;
}

export interface PendingView {
  approvals: ApprovalRequested[];
  questions: QuestionAsked[];
  client_calls?: ClientToolRequested[];
}

export interface PictureBody {
  data?: string | null;
  url?: string | null;
  role?: "" | "desktop" | "detail" | "mobile";
  page?: string;
  kind?: "" | "page" | "photo" | "sketch";
  scale?: number | null;
  name?: string;
}

export interface PictureSize {
  width: number;
  height: number;
}

export interface ProjectChange {
  title: string;
}

export interface ProjectView {
  id: string;
  title: string;
  stack: string;
  created: number;
  updated: number;
  targets: TargetPicture[];
  versions: VersionView[];
  current: string;
  undo: ActionView | null;
  redo: ActionView | null;
  queue: QueuedChangeView[];
  locks: LockView[];
}

export interface ProjectsView {
  projects: ProjectView[];
  next: string | null;
}

export interface PromptBody {
  text?: string;
  images?: SourceBody[];
  videos?: SourceBody[];
  url?: string | null;
  capture?: CaptureOptions | null;
  figma?: string | null;
  html?: string | null;
  selected?: SelectedBody | null;
  documents?: DocumentBody[];
}

export interface PromptReport {
  provider: string;
  model: string;
  api_model_name: string;
  session_id: string;
  turn: number;
  created_at: string;
  request: JsonObject;
  usage: ReportUsage | null;
}

export interface ProviderView {
  name: string;
  key_set: boolean;
  variables: string[];
  origin?: "" | "environment" | "file" | "keyring";
  is_local?: boolean;
  is_running?: boolean;
  address?: string;
}

export interface ProvidersView {
  providers: ProviderView[];
  key_place: "encrypted_file" | "file" | "keyring";
}

export interface PruneBody {
  max_age_days?: number;
}

export interface Pruned {
  deleted_count: number;
  freed_bytes: number;
}

export interface PullRequestBody {
  title: string;
  body?: string;
  draft?: boolean;
}

export interface PullRequestView {
  number: number;
  url: string;
}

export interface PushBody {
  remote: string;
  branch?: string;
}

export interface PushKeyView {
  public_key: string;
}

export interface PushResult {
  branch: string;
  commit: string;
  versions: number;
  outcome: "new" | "unchanged" | "updated";
}

export interface QueuedChangeView {
  id: string;
  text: string;
  base: VariantRef;
  status: "failed" | "sending" | "waiting";
  reason: string;
}

export interface ReadyView {
  node: string;
}

export interface Reason {
  effort?: "high" | "low" | "max" | "medium" | "minimal" | "none" | "xhigh" | null;
  budget?: number | null;
  visible?: boolean;
}

export interface RenderedBody {
  path: string;
  source?: string;
  template?: string;
}

export interface ReplayBody {
  since?: number | null;
  session?: string | null;
}

export interface ReplayCount {
  replayed: number;
}

export interface ReportQuery {
  filename: string;
}

export interface ReportSummary {
  filename: string;
  provider: string;
  model: string;
  created_at: string;
  session_id: string;
  turn: number;
  size_bytes: number;
  cost_usd: number | null;
}

export interface ReportUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read: number;
  cache_write: number;
  total_tokens: number;
  cache_hit_rate_percent: number;
  cost_usd: number | null;
}

export interface ReportsView {
  reports: ReportSummary[];
  total_size_bytes: number;
  reports_directory?: string;
}

export interface RepositoriesView {
  repositories: RepositorySummary[];
}

export interface RepositorySummary {
  name: string;
  framework: string;
  status: "failed" | "running" | "starting" | "stopped";
}

export interface RepositoryView {
  name: string;
  framework: string;
  installed: boolean;
  commands: CommandsView | null;
  status: "failed" | "running" | "starting" | "stopped";
  preview: string;
  output: string;
  install: JobView | null;
  test: JobView | null;
  branch: BranchView | null;
  proposed_hosts: string[];
  refused_hosts: string[];
  allowed_hosts: string[];
}

export interface RestoreBody {
  kind: "restore";
  base: BaseBody;
}

export interface ResultsFolder {
  name: string;
  path: string;
  modified_time: number;
}

export interface RevisionView {
  revision: number;
  hash: string | null;
  size: number;
  diff: string;
}

export interface RevisionsView {
  revisions: RevisionView[];
}

export interface RewindBody {
  seq: number;
  files?: boolean;
}

export interface ScoreView {
  score: VariantScore;
  differences: DifferenceView[];
  heatmap: string;
}

export interface ScreenshotQuery {
  width?: number;
}

export interface SearchHit {
  session: string;
  seq: number;
  title: string;
  kind: string;
  parent: string | null;
  role: string;
  excerpt: string;
}

export interface SearchQuery {
  text: string;
  limit?: number;
  after?: string | null;
}

export interface SearchView {
  hits: SearchHit[];
  next: string | null;
}

export interface SecretBody {
  secret?: string;
}

export interface SelectedBody {
  html: string;
  path?: string;
  index?: number;
  count?: number;
  file?: string;
  line?: number;
}

export interface SessionChange {
  model?: string;
  agent?: string;
  tools?: string[];
  instructions?: string;
  permissions?: "ask" | "auto" | "inside" | "read-only";
  rules?: string[];
  workspace?: string | null;
  budget?: Budget | null;
  temperature?: number | null;
  max_output_tokens?: number | null;
  reasoning?: Reason | null;
  extra?: JsonObject;
  cache?: boolean;
  client_tools?: Json[];
  title?: string;
}

export interface SessionComparison {
  shared: number;
  left: SessionFuture;
  right: SessionFuture;
}

export interface SessionDefaults {
  tools: string[];
  permissions: "ask" | "auto" | "inside" | "read-only";
}

export interface SessionFuture {
  id: string;
  title?: string;
  events?: number;
  models?: string[];
  turns?: number;
  calls?: number;
  failed_calls?: number;
  files?: string[];
  status?: string;
  answer?: string;
  usage?: Usage;
  cost_usd?: number | null;
  fork?: SessionForked | null;
}

export interface SessionView {
  id: string;
  title: string;
  created: number;
  updated: number;
  last_seq: number;
  parent: string | null;
  parent_seq: number | null;
  settings: SettingsView;
  busy: boolean;
  queued: number;
  client_calls: string[];
}

export interface SessionsView {
  sessions: SessionView[];
  next: string | null;
}

export interface SettingsView {
  model: string;
  agent: string;
  tools: string[];
  instructions: string;
  permissions: "ask" | "auto" | "inside" | "read-only";
  rules: string[];
  workspace: string | null;
  budget: Budget | null;
  temperature: number | null;
  max_output_tokens: number | null;
  reasoning: Reason | null;
  extra: JsonObject;
  cache: boolean;
  client_tools: string[];
}

export interface ShareView {
  id: string;
  writable: boolean;
  created: number;
  secret?: string;
  path?: string;
}

export interface SharesView {
  shares: ShareView[];
}

export interface SitePage {
  path: string;
  title?: string;
}

export interface SourceBody {
  data?: string | null;
  url?: string | null;
  role?: "" | "desktop" | "detail" | "mobile";
  page?: string;
  kind?: "" | "page" | "photo" | "sketch";
  scale?: number | null;
}

export interface StackView {
  name: string;
  label: string;
}

export interface StoredDesignSystem {
  id: string;
  name: string;
  content: string;
  createdAt: string;
  updatedAt: string;
}

export interface Storyboard {
  frames: StoryboardFrame[];
}

export interface StoryboardFrame {
  seconds: number;
  data: string;
}

export interface StrayValue {
  kind: "color" | "font" | "radius" | "size" | "space";
  property: string;
  value: string;
  count: number;
  path: string;
  text: string;
  nearest: string;
}

export interface StudioFile {
  path: string;
  size: number;
  text: boolean;
}

export interface StudioFiles {
  files: StudioFile[];
}

export interface StudioView {
  stacks: StackView[];
  models: ModelOffer[];
  defaults: Defaults;
  has_keys: boolean;
  chromium: boolean;
  figma: "" | "environment" | "file" | "keyring";
  design_systems: string[];
  examples: Example[];
  gallery: GalleryItem[];
}

export interface Submission {
  text?: string | null;
  content?: (TextPart | ImagePart | FilePart)[] | null;
  client_request_id?: string | null;
  when_busy?: "interrupt" | "queue" | "refuse" | "steer";
  output_schema?: JsonObject | null;
  budget?: Budget | null;
  client_tools?: Json[] | null;
}

export interface TargetPicture {
  blob: string;
  width: number;
  height: number;
  label?: string;
  ratio?: number;
}

export interface TestOutcome {
  delivered: boolean;
  status: number;
  problem: string;
}

export interface TextPart {
  type: "text";
  text: string;
}

export interface TokenView {
  token: string;
}

export interface ToolDefinition {
  name: string;
  description?: string;
  input_schema?: JsonObject;
  strict?: boolean;
}

export interface ToolResultBody {
  call_id: string;
  content: Json;
  is_error?: boolean;
}

export interface ToolView {
  name: string;
  description: string;
  effect: "any" | "network" | "none" | "read" | "run" | "write";
  schema: JsonObject;
}

export interface ToolsView {
  tools: ToolView[];
  families: Record<string, string[]>;
}

export interface TryView {
  number: number;
  session: string;
  model: string;
  status: "cancelled" | "completed" | "failed" | "limit" | "queued" | "running";
}

export interface UndoBody {
  action?: string;
}

export interface UpdateBody {
  kind: "update";
  base: BaseBody;
  prompt: PromptBody;
  models?: string[];
  variants?: number | null;
}

export interface VariantRef {
  version: string;
  variant: number;
}

export interface VariantScore {
  block: number;
  text: number;
  position: number;
  colour: number;
  ssim: number;
  overall: number;
  style?: number | null;
  shapes?: number | null;
  changed?: number | null;
}

export interface VariantView {
  index: number;
  session: string;
  model: string;
  status: "cancelled" | "completed" | "failed" | "limit" | "queued" | "running";
  exchange: string | null;
  started: number | null;
  ended: number | null;
  turns: number;
  usage: Usage;
  cost_usd: number | null;
  score: VariantScore | null;
  draft_score: VariantScore | null;
  error: ErrorInfo | null;
  note: string | null;
  entry: string | null;
  pages: SitePage[];
  preview: string;
  number: number;
  tries: TryView[];
  removed: boolean;
}

export interface VersionView {
  id: string;
  number: number;
  kind: "create" | "edit" | "import" | "restore" | "update";
  base: VariantRef | null;
  text: string;
  created: number;
  chosen: number;
  draft: string;
  queued: string;
  pictures: TargetPicture[];
  variants: VariantView[];
}

export interface WorkspacesView {
  workspaces: string[];
}

export interface Writing {
  author: "draft" | "model" | "person" | "start";
  version: string;
  number: number;
  variant: number;
  kind: "create" | "edit" | "import" | "restore" | "update";
  time: number;
  request: string;
  session: string;
  seq: number;
  exchange: string;
  model: string;
  tool: string;
}
