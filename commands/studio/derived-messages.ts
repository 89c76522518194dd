/** What is made of a song, as a message: covers, karaoke, WAV, music video, a kept voice. */
import { actionId, type Button, type MediaItem, type Message, plain } from '../../src/message.ts';
import type { JobView, LyricLine } from '../../src/work.ts';
import { duration } from '../text.ts';
import { lineage } from './lineage.ts';

/** The name of what it was made from, without the quotes that a sentence has. */
export function sourceName({ madeFrom }: Pick<JobView, 'madeFrom'>): string {
  return (madeFrom ?? 'Your song').replace(/[“”]/g, '');
}

export function coverArtMessage(job: JobView): Message {
  const name = sourceName(job);
  const images = job.result?.images ?? [];
  return derived(job, `Cover art of ${name}`, {
    media: images.map(
      (source, index): MediaItem => ({
        kind: 'image',
        name: images.length > 1 ? `${name} - cover ${index + 1}` : `${name} - cover`,
        source,
        alt: `Cover ${index + 1} of ${name}`,
      }),
    ),
  });
}

export function wavMessage(job: JobView): Message {
  const name = sourceName(job);
  const url = job.result?.wavUrl;
  return derived(job, `WAV of ${name}`, {
    media:
      url === undefined
        ? []
        : [{ kind: 'audio', name, source: { type: 'remote', url }, caption: 'Lossless' }],
  });
}

export function musicVideoMessage(job: JobView): Message {
  const name = sourceName(job);
  const url = job.result?.videoUrl;
  return derived(job, `Music video of ${name}`, {
    media:
      url === undefined
        ? []
        : [{ kind: 'video', name, source: { type: 'remote', url }, alt: `Music video of ${name}` }],
  });
}

export function karaokeMessage(job: JobView): Message {
  const name = sourceName(job);
  const { file, lines = [] } = job.result?.karaoke ?? {};
  if (lines.length === 0) {
    return derived(job, `Karaoke of ${name}`, { text: 'The gateway hears no words in this take.' });
  }
  return derived(job, `Karaoke of ${name}`, {
    text: preview(lines),
    ...(file === undefined
      ? {}
      : {
          media: [
            {
              kind: 'file' as const,
              name,
              source: { type: 'kept' as const, file },
              caption: 'Lyrics with times (.lrc)',
            },
          ],
        }),
  });
}

/** The lines with their times, sections in bold. */
function preview(lines: readonly LyricLine[]): string {
  return lines
    .map(({ startSeconds, text, section }, index) => {
      const heading = section === undefined ? '' : `${index === 0 ? '' : '\n'}**${plain(section)}**\n`;
      return `${heading}\`${duration(Math.floor(startSeconds))}\` ${plain(text)}`;
    })
    .join('\n');
}

export function keptVoiceMessage(job: JobView): Message {
  const { work, result } = job;
  const name = work.route === 'music.generatePersona' ? work.request.name : 'The voice';
  const { fields, actions } = lineage(job);
  if (result?.voice?.outcome !== 'kept') {
    return {
      title: 'This voice is kept already',
      text: 'Each take gives its voice once, and this one has. /voices shows the voices of this server; another take, or a new song, gives another voice.',
      fields,
      actions,
    };
  }
  const sing: Button = {
    type: 'action',
    id: actionId({ command: 'song', action: 'sing', job: job.id, index: 0 }),
    label: 'Sing with it',
    emphasis: 'primary',
  };
  return {
    title: `The voice “${name}” is kept`,
    text: `Choose it in /song and /remix under \`voice\`. /voices shows all that are kept here.`,
    fields: [...fields, { name: 'Kept by', value: job.person.displayName }],
    actions: [sing, ...actions],
  };
}

function derived(job: JobView, title: string, rest: Pick<Message, 'text' | 'media'>): Message {
  const { fields, actions } = lineage(job);
  const again: Button = {
    type: 'action',
    id: actionId({ command: job.command, action: 'again', job: job.id, index: 0 }),
    label: 'Again',
  };
  return {
    title,
    ...rest,
    fields: [...fields, { name: 'Asked by', value: job.person.displayName }],
    actions: [again, ...actions],
  };
}
