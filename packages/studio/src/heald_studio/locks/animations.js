// Describes the animations of the page, or with `phase` pauses them there. Each keyframe is a phase, and the end.
(phase) => {
  const animations = document.getAnimations();
  const steps = (animation) => {
    const timing = animation.effect.getComputedTiming();
    const duration = Number(timing.duration) || 0;
    const offsets = animation.effect.getKeyframes().map((frame) => frame.computedOffset);
    const between = offsets.slice(1).map((offset, n) => (offset + offsets[n]) / 2);
    return [...offsets, ...between].sort().map((offset) => timing.delay + Math.min(offset, 0.9999) * duration);
  };
  if (phase === null) {
    const signature = (animation) => {
      const { target, pseudoElement } = animation.effect;
      return JSON.stringify([target?.localName, target?.className, pseudoElement, animation.animationName ?? "", animation.effect.getKeyframes(), animation.effect.getTiming()]);
    };
    return { signatures: animations.map(signature).sort(), phases: Math.max(0, ...animations.map((animation) => steps(animation).length)) };
  }
  for (const animation of animations) {
    const times = steps(animation);
    animation.pause();
    if (times.length) animation.currentTime = times[Math.min(phase, times.length - 1)];
  }
  return null;
}
