import { readFileSync } from 'node:fs';

/** SVG transforms of figures that move, `time` seconds after the scene began. */
const motions: Readonly<Record<string, (time: number) => string>> = {
  sway: (time) => `rotate(${2.5 * Math.sin(time * 1.6)})`,
  bob: (time) => `translate(0 ${0.03 * Math.sin(time * 1.7)}) rotate(${2 * Math.sin(time * 1.3)})`,
  beat: (time) => `scale(${1 + 0.06 * Math.sin(time * 5)})`,
  rise: (time) => `translate(0 ${0.4 + 0.08 * time})`,
  leap: (time) => `translate(0 ${0.3 + 0.12 * Math.sin(time * 2)}) rotate(${14 * Math.cos(time * 2)})`,
  fly: (time) => `translate(${0.06 * time} ${0.04 * Math.sin(time * 3)})`,
};

/** The figures that a prompt names, in its order and at most three, each as SVG by the time in seconds. */
export function figuresNamed(words: readonly string[]): ((time: number) => string)[] {
  const drawn = readFileSync(new URL('figures.svg', import.meta.url), 'utf8');
  const symbol = /<symbol id="\w+" data-words="([^"]+)" data-motion="(\w+)">(.*)/s;
  const figures = drawn.split('</symbol>').map((text) => {
    const [, names = '', motion = '', shapes = ''] = symbol.exec(text) ?? [];
    const move = motions[motion] ?? (() => '');
    return { names: names.split(' '), draw: (time: number) => `<g transform="${move(time)}">${shapes}</g>` };
  });
  const named = words.flatMap((word) => figures.filter(({ names }) => names.includes(word)));
  return [...new Set(named)].slice(0, 3).map(({ draw }) => draw);
}
