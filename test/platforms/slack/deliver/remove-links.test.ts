import { afterEach, expect, it } from 'vitest';
import { ADDRESS, type Harness, kept, PICTURE, startHarness } from '../harness.ts';

let harness: Harness;

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

it('links are taken from under a song with its cover and pictures, which stay', async () => {
  harness = await startHarness();
  const { server, slack, show, warned } = harness;
  const page = 'https://bot.example/songs/abc/signature';
  const posted = await show({
    title: 'Rain',
    fields: [{ name: 'Style', value: 'lofi' }],
    media: [
      { ...PICTURE, cover: true },
      { ...PICTURE, name: 'sun.png', caption: 'The sun', source: kept('take-2', 'image/png') },
    ],
    actions: [
      { type: 'link', url: page, label: 'Listen' },
      { type: 'action', id: 'song.again:job:0', label: 'Again' },
    ],
  });
  const before = server.botMessages()[0]?.blocks ?? [];
  expect(JSON.stringify(before)).toContain(page);
  await slack.removeLinks?.(ADDRESS, posted, page);
  await slack.removeLinks?.(ADDRESS, posted, page);
  const [title, section, picture] = before;
  expect(section).toMatchObject({ accessory: { type: 'image' } });
  expect(picture).toMatchObject({ type: 'image', title: { text: 'The sun' } });
  const after = server.botMessages()[0]?.blocks ?? [];
  expect(after).toMatchObject([title, section, picture, { elements: [{ text: { text: 'Again' } }] }]);
  expect(JSON.stringify(after)).not.toContain(page);
  expect(server.callsOf('chat.update'), 'what has no link is not edited').toHaveLength(1);
  expect(warned).toEqual([]);
});
