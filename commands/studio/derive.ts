/** Cover art, karaoke, WAV and music video: one press, one piece of work on a take. */
import type { CommandAction } from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import { quoted } from '../text.ts';
import { hasVoice, knownTake, takeName, titleOf } from './takes.ts';

/** The gateway paints for the whole song, not for a take. */
export const coverArt: CommandAction = {
  async run({ job }, { jobs }) {
    if (job.taskId === undefined) {
      throw new UserError(
        'The gateway gave no id for this song, so it cannot paint covers. /image can paint one.',
      );
    }
    const name = quoted(titleOf(job));
    return jobs.start({
      work: { route: 'music.generateCover', request: { taskId: job.taskId } },
      title: `Painting covers for ${name}`,
      parent: job.id,
      madeFrom: name,
      command: 'song',
    });
  },
};

export const karaoke: CommandAction = {
  async run({ job, index }, { jobs }) {
    if (!hasVoice(job)) throw new UserError('Nobody sings in this song, so there are no lines to time.');
    const { taskId, audioId, song } = knownTake({ job, index });
    const name = takeName({ job, index });
    return jobs.start({
      work: {
        route: 'music.timestampedLyrics',
        request: { taskId, audioId },
        song: {
          title: song.title ?? titleOf(job),
          artist: `Minstrel for ${job.person.displayName}`,
          ...(song.durationSeconds === undefined ? {} : { durationSeconds: song.durationSeconds }),
        },
      },
      title: `Timing the lyrics of ${name}`,
      parent: job.id,
      madeFrom: name,
      command: 'song',
    });
  },
};

export const wav: CommandAction = {
  async run({ job, index }, { jobs }) {
    const { taskId, audioId } = knownTake({ job, index });
    const name = takeName({ job, index });
    return jobs.start({
      work: { route: 'music.wavGenerate', request: { taskId, audioId } },
      title: `Making the WAV of ${name}`,
      parent: job.id,
      madeFrom: name,
      command: 'song',
    });
  },
};

export const musicVideo: CommandAction = {
  async run({ job, index }, { jobs }) {
    const { taskId, audioId } = knownTake({ job, index });
    const name = takeName({ job, index });
    return jobs.start({
      work: { route: 'music.mp4Generate', request: { taskId, audioId } },
      title: `Filming the music video of ${name}`,
      parent: job.id,
      madeFrom: name,
      command: 'song',
    });
  },
};
