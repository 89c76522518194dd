import { expect, it } from 'vitest';
import { sendingOf, textSending } from '../../../../src/platforms/discord/deliver/payload.ts';

const media = {
  open: () => Promise.reject(new Error('there are no files')),
  link: () => 'https://bot.example/files/a',
};

it('allows Discord to notify only the given people, whatever the text contains', async () => {
  const page = { content: '@everyone <@12345>', embeds: [], components: [], files: [] };
  const { body } = sendingOf(page, [], media);
  expect(body.allowed_mentions).toEqual({ parse: [] });
  expect(textSending('<@12345> this is ready.', ['12345']).body.allowed_mentions).toEqual({
    parse: [],
    users: ['12345'],
  });
});
