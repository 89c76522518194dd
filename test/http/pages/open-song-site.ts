import { onTestFinished } from 'vitest';
import { collectLog } from '../listener.ts';
import { type SongSiteOptions, serveSong } from './song-site.ts';

/** A site that closes after the test, with a recorded log. */
export async function openSongSite(options: Omit<SongSiteOptions, 'log'>) {
  const log = collectLog();
  const site = await serveSong({ ...options, log });
  onTestFinished(() => site[Symbol.asyncDispose]());
  return { ...site, log };
}
