// Pages that are shown side by side scroll together: each says where it is once it is asked to, and goes where it is told.
(() => {
  let isFollowed = false;
  let expected = null; // where the page around it has sent this one; that is no news
  addEventListener("scroll", () => {
    const { scrollX: left, scrollY: top } = window;
    const isNews = isFollowed && (expected === null || Math.abs(top - expected) > 1);
    expected = null;
    if (isNews) parent.postMessage({ heald: "scrolled", top, left }, "*");
  }, { passive: true });
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data) return;
    if (event.data.heald === "follow") isFollowed = event.data.on === true;
    if (event.data.heald !== "scroll") return;
    const most = document.documentElement.scrollHeight - innerHeight;
    const top = Math.max(0, Math.min(Number(event.data.top) || 0, most));
    if (Math.abs(top - scrollY) <= 1) return;
    expected = top;
    scrollTo({ top, behavior: "instant" });
  });
})();
