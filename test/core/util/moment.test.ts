import { expect, test } from 'vitest';
import { dayMark, readMoment, timeMark, timeText } from '../../../src/core/util/moment.ts';
import { paginate, readBlocks } from '../../../src/platforms/discord/render/markdown.ts';
import { slackMarkdown } from '../../../src/platforms/slack/render/markdown.ts';
import { readableMarkdown } from '../../../src/platforms/terminal/render.ts';
import { webNodes } from '../../../src/platforms/web/render/markdown.ts';

const AT = Date.UTC(2026, 10, 27, 16, 5);
const TEXT = `Saved on ${dayMark(AT)}, changed on ${timeMark(AT)}.`;
const PLAIN = 'Saved on 27 Nov 2026, changed on 27 Nov 2026, 16:05 UTC.';

test('a time in another zone has its weekday', () => {
  expect(timeText(AT, 'Europe/Berlin')).toBe('Fri, 27 Nov 2026, 17:05');
});

test('Discord shows times in the time zone of each reader', async () => {
  expect(await paginate(await readBlocks(TEXT), 2000)).toEqual([
    `Saved on <t:${AT / 1000}:D>, changed on <t:${AT / 1000}:f>.`,
  ]);
});

test('other platforms show the text', async () => {
  expect(await slackMarkdown(TEXT, 2000)).toEqual([PLAIN]);
  expect(readableMarkdown(TEXT)).toBe(PLAIN);
  const [paragraph] = await webNodes(TEXT);
  expect(paragraph?.children?.map(({ value }) => value).join('')).toBe(PLAIN);
});

test.each(['time:', 'time:12a', 'time:123456789012345', 'day:-1', 'mailto:1', 'https://time:1'])(
  '%s is not a time',
  (target) => {
    expect(readMoment(target)).toBeUndefined();
  },
);
