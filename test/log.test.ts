import { expect, it } from 'vitest';
import { createLog } from '../src/log.ts';

it('writes no secret and no URL that gives access by itself', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    write: (line) => lines.push(line),
    secrets: ['gateway-key-123', 'tiny'],
  });
  const url = 'https://discord.com/api/v10/webhooks/123/interaction.token-1/messages/@original';
  log.error(
    { err: Object.assign(new Error('failed with gateway-key-123'), { url }) },
    'POST https://bot.example/callbacks/music/job1/sig-2',
  );
  log.warn(
    { link: 'https://bot.example/files/a.mp3?expires=1&signature=sig-3', header: 'Bearer abcdef-12345678' },
    'kept',
  );
  const text = lines.join('');
  for (const secret of ['gateway-key-123', 'interaction.token-1', 'sig-2', 'sig-3', 'abcdef-12345678']) {
    expect(text).not.toContain(secret);
  }
  expect(text).toContain('/webhooks/123/[secret]/messages');
  expect(lines).toHaveLength(2);
  expect(lines.every((line) => JSON.parse(line))).toBe(true);
});
