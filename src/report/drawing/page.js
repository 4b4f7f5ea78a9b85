// Tooltips for everything with data-tip, and the zoom of the pipeline: x coordinates are
// multiplied, so that text keeps its shape and appears where it now fits.
(() => {
  const tip = document.createElement('div');
  tip.className = 'tip';
  document.body.append(tip);
  addEventListener('pointermove', e => {
    const t = e.target.closest && e.target.closest('[data-tip]');
    if (!t) { tip.style.opacity = 0; return; }
    tip.textContent = t.dataset.tip;
    tip.style.opacity = 1;
    const x = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = e.clientY + 20 + tip.offsetHeight > innerHeight ? -tip.offsetHeight - 12 : 20;
    tip.style.transform = 'translate(' + Math.max(x, 4) + 'px,' + (e.clientY + below) + 'px)';
  });
  const svg = document.querySelector('svg.pipeline'), slider = document.querySelector('.zoom input');
  if (!svg || !slider) return;
  slider.parentElement.hidden = false;
  const width = +svg.dataset.width, gutter = +svg.dataset.gutter, box = svg.parentElement;
  const height = svg.viewBox.baseVal.height, group = svg.querySelector('.gutter');
  const moving = [];
  for (const r of svg.querySelectorAll(':scope > rect')) {
    moving.push([r, 'x', +r.getAttribute('x'), +r.getAttribute('width')]);
  }
  for (const t of svg.querySelectorAll(':scope > text.tick')) moving.push([t, 'x', +t.getAttribute('x'), 0]);
  for (const l of svg.querySelectorAll(':scope > line')) moving.push([l, 'line', +l.getAttribute('x1'), 0]);
  const follow = () => group.setAttribute('transform',
    'translate(' + box.scrollLeft * svg.viewBox.baseVal.width / svg.clientWidth + ',0)');
  const zoom = z => {
    svg.setAttribute('viewBox', '0 0 ' + width * z + ' ' + height);
    svg.style.width = 100 * z + '%';
    for (const t of svg.querySelectorAll('text.pass')) t.remove();
    for (const [e, kind, x, w] of moving) {
      const at = gutter + (x - gutter) * z;
      if (kind === 'line') { e.setAttribute('x1', at); e.setAttribute('x2', at); continue; }
      e.setAttribute('x', at);
      if (!w) continue;
      e.setAttribute('width', w * z);
      const m = e.dataset.m;
      if (m === undefined || m.length * 6.2 + 4 > w * z || +e.getAttribute('height') < 11) continue;
      const t = document.createElementNS(svg.namespaceURI, 'text');
      t.setAttribute('class', 'pass n-' + e.className.baseVal);
      t.setAttribute('x', at + w * z / 2);
      t.setAttribute('y', +e.getAttribute('y') + e.getAttribute('height') / 2 + 4);
      t.textContent = m;
      svg.insertBefore(t, group);
    }
    follow();
  };
  slider.addEventListener('input', () => zoom(2 ** slider.value));
  box.addEventListener('scroll', follow);
})();
