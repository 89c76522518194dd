/** Small helpers for the sentences and names that commands make. */

/** At most `most` characters, ending at a word where there is one. */
export function clip(text: string, most: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  if (flat.length <= most) return flat;
  const cut = beginning(flat, most);
  const space = cut.lastIndexOf(' ');
  return (space > most / 2 ? cut.slice(0, space) : cut).trim();
}

/** At most `most` characters, as they are; never half of one. */
export function beginning(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}

/** The first `most` words. */
export function words(text: string, most: number): string {
  return text.trim().split(/\s+/).slice(0, most).join(' ');
}

/** In quotes, short enough for a heading. */
export function quoted(text: string): string {
  const short = clip(text, 80);
  return short === text.trim() ? `“${short}”` : `“${short}…”`;
}

/** Minutes and seconds, as `2:31`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
