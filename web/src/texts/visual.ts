/** The texts of visual editing: one object for each component. */

export const editHelp = {
  click: "Click",
  selectAnElement: "select an element",
  shiftAndClick: "Shift and click",
  selectSeveral: "select several",
  drag: "Drag",
  moveTheSelectedElement: "move the selected element",
  dragAHandle: "Drag a handle",
  changeSpacing: "change its padding (green) or margin (orange)",
  doubleClick: "Double-click",
  writeIntoAText: "write into a text",
  describeTheChangeInWords: "describe the change in words",
  layers: "Layers",
  chooseFromTree: "choose from the tree of elements",
  howToEdit: "How to edit",
  editInThePage: "Edit in the page",
} as const;

export const editScope = {
  allWidths: "All widths",
  upTo1023Px: "Up to 1023 px",
  upTo639Px: "Up to 639 px",
} as const;

export const layerTree = {
  layers: "Layers",
  moveBefore: "Move before",
  moveBehind: "Move behind",
  closeTheLayers: "Close the layers",
  elements: "Elements",
} as const;

export const tokenSelect = {
  token: (label: string) => `${label}: token`,
  tokenLabel: "Token",
} as const;
