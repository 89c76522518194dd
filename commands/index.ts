import type { AnyCommand } from '../src/command.ts';
import { ask } from './ask.ts';
import { image } from './image.ts';
import { jobs } from './jobs.ts';
import { lyrics } from './lyrics.ts';
import { song } from './song.ts';
import { stems } from './stems.ts';
import { video } from './video.ts';

/** Everything that the bot can do. */
export const commands: readonly AnyCommand[] = [song, lyrics, stems, image, video, ask, jobs];
