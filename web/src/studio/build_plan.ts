/** What the start page asks for: which models build what, as far as it follows from what was written and chosen, and from what the server offers. */

import type { Attachment } from "../chat/attachments";
import type { ModelView, Prompt, StudioView } from "../wire/api";
import { canDraft } from "./draft_switch";
import { type Hint, usesConverter, withHint } from "./picture_hint";
import { isFigma, promptOf } from "./prompt";
import { modelsNamed, usualModelsOf } from "./usual_models";

/** What a person wrote, attached and chose. */
export interface BuildChoices {
  text: string;
  attachments: Attachment[];
  stack: string;
  models: readonly string[];
  variants: number;
  /** Each picture is a page of its own. */
  eachPage: boolean;
  draft: boolean;
  hint: Hint;
}

export interface BuildPlan {
  prompt: Prompt;
  /** The models that were chosen and are offered. */
  chosen: string[];
  usualModels: string[];
  stack: string;
  stacks: StudioView["stacks"];
  variants: number;
  /** Whether a draft can be made, and whether pictures can be given hints. */
  canDraft: boolean;
  canHint: boolean;
  /** Whether there are several pictures. */
  several: boolean;
  eachPage: boolean;
  empty: boolean;
  /** A page is imported as it is. */
  imports: boolean;
  /** No model takes words. */
  noWords: boolean;
  /** A link to Figma needs a token. */
  noToken: boolean;
  refused: boolean;
}

export function buildPlanOf(offer: StudioView | null, choices: BuildChoices): BuildPlan {
  const { text, attachments, draft } = choices;
  const chosen = choices.models.filter((name) => offer?.models.some((model) => model.name === name) ?? false);
  const usualModels = usualModelsOf(offer, hasPictures(promptOf(text, attachments)));
  const builders = modelsNamed(offer, chosen.length > 0 ? chosen : usualModels);
  const stacks = offer?.stacks.filter((candidate) => builders.every((model) => !model.stacks || model.stacks.includes(candidate.name))) ?? [];
  const usual = offer?.defaults.stack ?? "";
  const stack = [choices.stack, usual].find((name) => stacks.some((candidate) => candidate.name === name)) ?? stacks[0]?.name ?? "";
  const eachPage = choices.eachPage && stack !== "svg";
  const prompt = promptOf(text, attachments, eachPage);
  const drafts = hasPictures(prompt) && prompt.videos === undefined && canDraft(offer?.models ?? [], builders, stack);
  const hints = prompt.images !== undefined && prompt.html === undefined && usesConverter(builders, drafts && draft);
  const empty = text.trim() === "" && attachments.length === 0;
  const isLink = isFigma(prompt.figma ?? "");
  const wordsOnly = !empty && prompt.images === undefined && prompt.videos === undefined && prompt.url === undefined && prompt.html === undefined && !isLink;
  const noWords = takesNoWords(modelsNamed(offer, chosen.length > 0 ? chosen : usualModelsOf(offer, false)));
  const noToken = isLink && offer !== null && offer.figma === "";
  return {
    prompt: hints ? withHint(prompt, choices.hint) : prompt,
    chosen,
    usualModels,
    stack,
    stacks,
    variants: choices.variants || chosen.length || offer?.defaults.variants_create || 4,
    canDraft: drafts,
    canHint: hints,
    several: attachments.filter((attachment) => attachment.kind === "image").length > 1,
    eachPage,
    empty,
    imports: prompt.html !== undefined && prompt.text === undefined && prompt.images === undefined,
    noWords,
    noToken,
    refused: (wordsOnly && noWords) || noToken,
  };
}

function takesNoWords(models: readonly ModelView[]): boolean {
  return models.length > 0 && models.every((model) => model.text === false);
}

/** Whether a new page is built from pictures: attached ones, a recording, or a page or frame that is captured. */
function hasPictures(prompt: Prompt): boolean {
  if (prompt.html !== undefined) return false; // its code is changed
  return prompt.images !== undefined || prompt.videos !== undefined || prompt.url !== undefined || isFigma(prompt.figma ?? "");
}
