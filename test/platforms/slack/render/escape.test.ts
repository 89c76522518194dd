import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeMrkdwn, unescapeSlack } from '../../../../src/platforms/slack/render/escape.ts';

describe("Slack's encoding of typed text", () => {
  it('is decoded exactly once', () => {
    const pieces = fc.oneof(
      fc.string(),
      fc.constantFrom('<', '>', '&', 'amp;', 'lt;', '@U1', '|', 'https://x.example', '&amp;'),
    );
    const typedText = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(typedText, (typed) => {
        expect(unescapeSlack(escapeMrkdwn(typed))).toBe(typed);
      }),
    );
  });

  it.each([
    ['<@U0ADA|ada> and <@U1>', '@ada and @U1'],
    ['<#C1|music>', '#music'],
    ['<!here> <!subteam^S1|@team>', '@here @team'],
    ['<http://example.com/|example.com>', 'http://example.com/'],
    ['<https://example.com/a?b=1&amp;c=2>', 'https://example.com/a?b=1&c=2'],
    ['<https://example.com|look>', 'look (https://example.com)'],
    ['<mailto:a@b.c|a@b.c>', 'a@b.c'],
    ['<!date^1392734382^{date_num}|2014-02-18>', '2014-02-18'],
    ['&amp;lt;', '&lt;'],
  ])('%s', (received, typed) => {
    expect(unescapeSlack(received)).toBe(typed);
  });
});

it('keeps mentions as one word for options that take a person', () => {
  expect(unescapeSlack('<@U0ADA|Ada Lovelace> &amp; more', { keepMentions: true })).toBe(
    '<@U0ADA|Ada_Lovelace> & more',
  );
});
