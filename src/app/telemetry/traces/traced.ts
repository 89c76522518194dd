/** What becomes a span where the parts are put together: commands, files, messages. */
import type { Bot } from '../../../core/bot/bot.ts';
import type { Invocation } from '../../../core/invocation.ts';
import type { KeptFile } from '../../../core/message.ts';
import type { Tracer } from '../../../core/telemetry/trace.ts';
import type { Media } from '../../../media/media.ts';
import type { Platform } from '../../../platforms/platform.ts';

/** Buttons that every command has. */
const COMMON_ACTIONS = ['cancel', 'show', 'again'];

/** Each command is a span: of a trace of its own where a person asks, a part of the answer's where a model does. */
export function tracedBot(bot: Bot, tracer: Tracer, by: 'person' | 'model'): Bot {
  // What is written in a button or typed by hand is no word of ours until it is found here.
  const known = ({ command, action }: Invocation) => {
    const found = bot.commands.find(({ name }) => name === command);
    const actions = [...COMMON_ACTIONS, ...Object.keys(found?.actions ?? {})];
    return { command: found?.name, action: actions.find((name) => name === action?.name) };
  };
  return {
    ...bot,
    run(invocation) {
      const { command, action } = known(invocation);
      const attributes = {
        'minstrel.platform': invocation.address.platform,
        'minstrel.command': command,
        'minstrel.action': action,
      };
      const parent = by === 'person' ? 'none' : undefined;
      return tracer.run({ span: 'command', attributes, parent }, async (span) => {
        const outcome = await bot.run(invocation);
        span.set({
          'minstrel.outcome': outcome.type,
          'minstrel.job': outcome.type === 'accepted' ? outcome.job : undefined,
        });
        return outcome;
      });
    },
  };
}

/** Every file that is fetched, kept, tagged or packed is a span. */
export function tracedMedia(media: Media, tracer: Tracer): Media {
  const file = (operation: string, kinds: readonly string[] | undefined, work: () => Promise<KeptFile>) => {
    const attributes = { 'minstrel.operation': operation, 'minstrel.media.kind': kinds?.join(' ') };
    return tracer.run({ span: 'media', attributes }, async (span) => {
      const kept = await work();
      span.set({ 'minstrel.media.bytes': kept.bytes, 'minstrel.media.type': kept.contentType });
      return kept;
    });
  };
  return {
    ...media,
    keep: (url, expect) => file('keep', expect.kinds, () => media.keep(url, expect)),
    keepBytes: (data, expect) => file('keepBytes', expect.kinds, () => media.keepBytes(data, expect)),
    keepText: (text, extension) => file('keepText', [extension], () => media.keepText(text, extension)),
    archive: (entries) => file('archive', ['archive'], () => media.archive(entries)),
    tag: (song, tags) => file('tag', ['audio'], () => media.tag(song, tags)),
  };
}

/** Every message that a chat is given is a span; one that is streamed, until its end. */
export function tracedPlatform(platform: Platform, tracer: Tracer): Platform {
  const delivery = (operation: string, files?: number) => ({
    span: 'delivery' as const,
    attributes: {
      'minstrel.platform': platform.name,
      'minstrel.operation': operation,
      'minstrel.files': files,
    },
  });
  return {
    ...platform,
    show: (address, message, options) =>
      tracer.run(delivery('show', message.media?.length ?? 0), () =>
        platform.show(address, message, options),
      ),
    retract: (address, posts) => tracer.run(delivery('retract'), () => platform.retract(address, posts)),
    sendPrivately: (address, message) =>
      tracer.run(delivery('sendPrivately', message.media?.length ?? 0), () =>
        platform.sendPrivately(address, message),
      ),
    stream(address, options) {
      const span = tracer.begin(delivery('stream'));
      const stream = span.within(() => platform.stream(address, options));
      return {
        update: (message) => stream.update(message),
        async close(message) {
          span.set({ 'minstrel.files': message.media?.length ?? 0 });
          try {
            const posted = await span.within(() => stream.close(message));
            span.end();
            return posted;
          } catch (error) {
            span.end(error);
            throw error;
          }
        },
      };
    },
  };
}
