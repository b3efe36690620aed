/** The texts of variants side by side: one object for each component. */

export const beside = {
  twoFinishedVariantsAreNeeded: "Two finished variants are needed to show them side by side.",
  size: "Size",
  fit: "Fit",
  copyAPart: "Copy a part",
  variantsSideBySide: "Variants side by side",
  variant: (index: number) => `Variant ${index}`,
} as const;

export const besideFrame = {
  variantAtFullSize: (index: number) => `Variant ${index} at full size`,
  pageOfVariant: (index: number) => `Page of variant ${index}`,
} as const;

export const partBar = {
  copyAPart: "Copy a part",
  clickThePartToCopy: "Click the part to copy, in any variant.",
  chooseDestination: (source: string) => `${source} selected. Click its destination in another variant.`,
  selectTheElementThatContains: "Select the element that contains it",
  selectParent: "Select parent",
  destination: "Destination",
  replace: "Replace",
  before: "Before",
  after: "After",
  copy: "Copy",
  askTheModel: "Ask the model",
  cancel: "Cancel",
  partOf: (name: string, variant: number) => `<${name}> of ${variant}`,
} as const;
