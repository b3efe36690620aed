/** Loads the page anew. What a person wrote and did not send is kept. */
export function reloadPage(): void {
  location.reload();
}
