// Waits until a page stands still: its document is quiet, lazy pictures are there, fonts are loaded, animations ended.
// Runs in a world of its own, so that nothing the page redefined is used. `quiet` and `most` are milliseconds.
async (quiet, most) => {
  const until = performance.now() + most;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const within = (work) => Promise.race([work, pause(Math.max(0, until - performance.now()))]);
  const frame = () => Promise.race([new Promise((done) => requestAnimationFrame(() => done())), pause(100)]);

  const stillness = () =>
    new Promise((done) => {
      let timer = setTimeout(finish, quiet);
      const observer = new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(finish, quiet);
      });
      function finish() {
        observer.disconnect();
        done();
      }
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    });

  const style = document.createElement("style");
  style.textContent = "*{caret-color:transparent!important;scroll-behavior:auto!important}";
  document.documentElement.append(style);

  // A preview that compiles its sources says so, because its document does not change meanwhile.
  while (document.documentElement.hasAttribute("data-heald-compiling") && performance.now() < until) await pause(20);
  await within(stillness());
  for (const image of document.querySelectorAll("img[loading=lazy]")) image.loading = "eager";
  const step = Math.max(innerHeight, 200);
  const end = Math.min(document.documentElement.scrollHeight, 20 * step);
  if (end > step + 1) {
    for (let top = step; top < end && performance.now() < until; top += step) {
      scrollTo({ top, behavior: "instant" });
      await frame();
    }
    scrollTo({ top: 0, left: 0, behavior: "instant" });
  }
  const loaded = [...document.images]
    .filter((image) => !image.complete)
    .map((image) => new Promise((done) => ["load", "error"].forEach((name) => image.addEventListener(name, done))));
  await within(Promise.all([...loaded, document.fonts.ready]));
  for (const animation of document.getAnimations()) {
    try {
      if (animation.effect.getComputedTiming().endTime === Infinity) animation.cancel();
      else animation.finish();
    } catch {
      animation.cancel();
    }
  }
  await frame();
  // One that stays in force would keep a layer of its own, whose letters are drawn a little differently each time.
  for (const animation of document.getAnimations()) {
    try {
      animation.commitStyles();
      animation.cancel();
    } catch {
      continue;
    }
  }
  await frame();
  await frame();
}
