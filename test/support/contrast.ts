import type { Page } from 'playwright-core';

/** Returns the visible texts with less contrast than WCAG 2.2 AA requires (1.4.3), each with its contrast. */
export function poorContrasts(page: Page): Promise<string[]> {
  return page.evaluate(SCRIPT);
}

const SCRIPT = `(() => {
  const brush = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const channels = (colour) => {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    return [...brush.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => {
    const [red, green, blue] = channels(colour).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const background = getComputedStyle(at).backgroundColor;
      if (channels(background)[3] === 255) return background;
    }
    return 'white';
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  const poor = new Set();
  for (const element of document.querySelectorAll('body *')) {
    if (!hasText(element) || !element.checkVisibility() || element.closest('.hidden, option, datalist, noscript')) continue;
    const style = getComputedStyle(element);
    const [text, background] = [luminance(element instanceof SVGElement ? style.fill : style.color), luminance(backgroundOf(element))];
    const contrast = (Math.max(text, background) + 0.05) / (Math.min(text, background) + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24;
    if (contrast < (isLarge ? 3 : 4.5)) poor.add(contrast.toFixed(2) + ' ' + element.textContent.trim().slice(0, 40));
  }
  return [...poor];
})()`;
