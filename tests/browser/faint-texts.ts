/** Runs in the page: texts whose contrast with what is behind them is below 4.5 (WCAG 2.2 AA), 3 for large ones. */
export function faintTexts(): string[] {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!canvas) return ["no canvas"];
  const rgb = (color: string): [number, number, number, number] => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r = 0, g = 0, b = 0, a = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a];
  };
  const luminance = ([r, g, b]: readonly number[]) => {
    const part = (value = 0) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const groundOf = (element: Element | null): number[] => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255];
  };
  const faint: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent?.trim() ?? "";
    if (!element || text === "" || element.closest("svg, style, script")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(rgb(style.color)), luminance(groundOf(element))].toSorted((x, y) => y - x);
    const ratio = ((a ?? 0) + 0.05) / ((b ?? 0) + 0.05);
    const large = Number.parseFloat(style.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) faint.push(`${text.slice(0, 40)} ${style.color} ${ratio.toFixed(2)}`);
  }
  return faint;
}
