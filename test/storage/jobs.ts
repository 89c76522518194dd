import type { Job } from '../../src/core/job.ts';

/** Creates a job like `/song`, with changes by the test. */
export function songJob(fields: Partial<Job> & Pick<Job, 'id'>): Job {
  return {
    version: 1,
    state: 'accepted',
    command: 'song',
    title: 'Composing “Rain”',
    address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
    person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
    invocation: `invocation of ${fields.id}`,
    work: {
      route: 'music.generate',
      request: { model: 'V5', prompt: 'rain', customMode: false, instrumental: false },
    },
    stored: {},
    attempts: 0,
    polls: 0,
    inboxRead: 0,
    createdAt: 1_000,
    ...fields,
  };
}

/** A result with one song. */
export function oneSong(title: string): NonNullable<Job['result']> {
  return { songs: [{ audioId: title, title }], lyrics: [], images: [], stems: [] };
}
