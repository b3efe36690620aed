// Waits until the page has had time to answer a change of its surroundings: listeners, frames, transitions.
async (quiet) => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const frame = () => Promise.race([new Promise((done) => requestAnimationFrame(() => done())), pause(100)]);
  await frame();
  await pause(quiet);
  for (const animation of document.getAnimations()) {
    if (!(animation instanceof CSSTransition)) continue;
    try {
      animation.finish();
    } catch {
      animation.cancel();
    }
  }
  await frame();
  await frame();
}
