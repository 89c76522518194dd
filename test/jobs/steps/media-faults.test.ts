import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LINKED_FILES_SENTENCE, type MediaItem } from '../../../src/core/message.ts';
import { GatewayError } from '../../../src/gateway/transport/errors.ts';
import { createFolderStore } from '../../../src/media/store/folder.ts';
import type { MediaStore } from '../../../src/media/store/media-store.ts';
import { createS3Store } from '../../../src/media/store/s3.ts';
import { PlatformError } from '../../../src/platforms/platform.ts';
import { tagsOf } from '../../end-to-end/sound.ts';
import { samples } from '../../fixtures/media-samples.ts';
import { bytesOf, temporaryFolder } from '../../media/helpers.ts';
import { startBucket } from '../../media/store/bucket.ts';
import { freePort } from '../../servers/free-port.ts';
import { SONG, VIDEO } from '../world.ts';
import { createMediaWorld, type MediaWorld } from './media-world.ts';

const DAY = 24 * 60 * 60_000;

async function folder(options: { openForWriting?: (path: string) => Writable } = {}): Promise<MediaStore> {
  return createFolderStore({ directory: await temporaryFolder(), now: () => 0, ...options });
}

/** A folder on a disk that is full until the test changes it. */
async function fullDisk() {
  const disk = { isFull: true };
  const roomy = await folder();
  const full = await folder({
    openForWriting: () =>
      new Writable({
        write: (_chunk, _encoding, done) =>
          done(Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' })),
      }),
  });
  const store: MediaStore = {
    ...roomy,
    put: (source, hint) => (disk.isFull ? full : roomy).put(source, hint),
  };
  return { disk, store };
}

/** A bucket on a service that is down until the test starts it. */
async function absentBucket() {
  const port = await freePort();
  const store = createS3Store({
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'media',
    prefix: 'minstrel/',
    region: 'us-east-1',
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    stagingDirectory: await temporaryFolder(),
    now: () => 0,
    random: () => 0.5,
    sleep: async () => undefined,
  });
  return { store, start: () => startBucket('media', { port }) };
}

/** A finished song that has not been delivered yet. */
async function finishedSong(world: MediaWorld): Promise<string> {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.callback(job, world.complete);
  return job;
}

const songs = (items: readonly MediaItem[] | undefined) =>
  (items ?? []).filter(({ kind }) => kind === 'audio');
const sources = (world: MediaWorld) => songs(world.shown().media).map(({ source }) => source.type);

async function expectComplete(world: MediaWorld, job: string): Promise<void> {
  expect((await world.read(job)).state).toBe('delivered');
  expect(sources(world)).toEqual(['stored', 'stored']);
  expect(world.shown().footer ?? '').not.toContain('not here yet');
  expect(world.gateway.acceptedCount(job, 'music.generate')).toBe(1);
}

async function tagsIn(world: MediaWorld, item: MediaItem | undefined) {
  if (item?.source.type !== 'stored') throw new TypeError('not kept');
  const opened = await world.media.open(item.source.file.name);
  return tagsOf(await bytesOf(opened?.stream ?? []));
}

describe('a full disk', () => {
  it('is reported, and the song is delivered once there is space again', async () => {
    const { disk, store } = await fullDisk();
    const world = await createMediaWorld(store);
    const job = await finishedSong(world);
    await world.advanceTimes(job, 6);
    expect((await world.read(job)).state).toBe('ready');
    expect(world.shown().footer).toContain('Rain (take 1), Rain (take 2)');
    expect(world.shown().footer).toContain("I can't store files right now, but I'll keep trying.");
    disk.isFull = false;
    await world.advanceTimes(job, 1);
    await expectComplete(world, job);
  });

  it('for a day leads to links to the gateway, and a note', async () => {
    const { store } = await fullDisk();
    const world = await createMediaWorld(store);
    const job = await finishedSong(world);
    await world.advanceTimes(job, 12);
    world.clock.advance(DAY);
    await world.advanceTimes(job, 1);
    expect((await world.read(job)).state).toBe('delivered');
    expect(sources(world)).toEqual(['remote', 'remote']);
    expect(world.shown().footer).toContain('expire in a few days');
  });

  it('that loses an image received as bytes leads to a message', async () => {
    const { store } = await fullDisk();
    const world = await createMediaWorld(store);
    const data = world.served.get('/cover.png')?.toString('base64') ?? '';
    const gateway = {
      ...world.gateway,
      gen: {
        ...world.gateway.gen,
        generateImage: async () => ({
          parts: [{ type: 'image', mimeType: 'image/png', data }],
          finish: { reason: 'stop' },
        }),
      },
    };
    Object.assign(world.dependencies, { gateway });
    const turns = [{ role: 'user', parts: [{ type: 'text', text: 'a fox' }] }] as const;
    const job = await world.start({
      work: { route: 'gen.image', request: { model: 'gen-picture', turns } },
      title: 'Creating an image of “a fox”',
    });
    await world.advanceTimes(job, 3);
    expect((await world.read(job)).state).toBe('failed');
    expect(world.shown().text).toContain("I can't store files right now");
    expect(world.shown().footer).toMatch(/^Reference /);
  });
});

describe('an unreachable bucket', () => {
  it('is reported, and the song is delivered once the bucket is back', async () => {
    const { store, start } = await absentBucket();
    const world = await createMediaWorld(store);
    const job = await finishedSong(world);
    await world.advanceTimes(job, 5);
    expect((await world.read(job)).state).toBe('ready');
    expect(world.shown().footer).toContain("I can't store files right now");
    await start();
    await world.advanceTimes(job, 1);
    await expectComplete(world, job);
  });

  it('between storing and posting leads to links, which files replace later', async () => {
    const roomy = await folder();
    let isDown = false;
    const { store: downStore } = await absentBucket();
    const store: MediaStore = {
      ...roomy,
      open: (name, range) => (isDown ? downStore : roomy).open(name, range),
    };
    const world = await createMediaWorld(store);
    const job = await finishedSong(world);
    isDown = true;
    await world.advanceTimes(job, 5);
    expect((await world.read(job)).state).toBe('ready');
    expect(world.shown().text).toContain('https://bot.example/files/');
    expect(world.shown().text).toContain(LINKED_FILES_SENTENCE);
    isDown = false;
    await world.advanceTimes(job, 1);
    await expectComplete(world, job);
    expect(world.shown().text ?? '').not.toContain('https://bot.example/files/');
  });

  it('does not block work without files, and refuses work with files before anything is spent', async () => {
    const { store } = await absentBucket();
    const world = await createMediaWorld(store);
    const image = { name: `${'a'.repeat(64)}.png`, bytes: 1, contentType: 'image/png' };
    if (VIDEO.work.route !== 'media.video') throw new TypeError('no video');
    const job = await world.start({ ...VIDEO, work: { ...VIDEO.work, image } });
    await world.advanceTimes(job, 2);
    expect((await world.read(job)).state).toBe('failed');
    expect(world.shown().text).toContain('Nothing was spent');
    expect(world.gateway.taken).toEqual([]);
    const song = await world.start(SONG);
    await world.advance(song);
    expect(world.gateway.acceptedCount(song, 'music.generate')).toBe(1);
  });
});

describe('a platform', () => {
  it('that rejects the files gets links and a note, and the job is delivered', async () => {
    const world = await createMediaWorld(await folder());
    world.platform.rejectFiles = () => new PlatformError('refused', 'these files offend');
    const job = await finishedSong(world);
    await world.advanceTimes(job, 1);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.shown().text).toMatch(/\[Rain .*mp3\]\(https:\/\/bot\.example\/files\/[0-9a-f]{64}\.mp3\?/);
    expect(world.shown().text).toContain(LINKED_FILES_SENTENCE);
  });

  it('whose uploads never arrive gets links after some tries', async () => {
    const world = await createMediaWorld(await folder());
    world.platform.rejectFiles = () => new PlatformError('unavailable', 'the upload broke');
    const job = await finishedSong(world);
    await world.advanceTimes(job, 4);
    expect((await world.read(job)).state).toBe('ready');
    await world.advanceTimes(job, 4);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.shown().text).toContain(LINKED_FILES_SENTENCE);
  });

  it('that was unavailable gets the files when it is back, however long it took', async () => {
    const world = await createMediaWorld(await folder());
    const job = await finishedSong(world);
    for (let failure = 0; failure < 30; failure += 1)
      world.platform.failures.push(new PlatformError('unavailable', 'away'));
    await world.advanceTimes(job, 40);
    await expectComplete(world, job);
  });
});

describe('files', () => {
  it('that the quota removed before posting are fetched again', async () => {
    const store = await folder();
    const world = await createMediaWorld(store);
    const job = await finishedSong(world);
    world.platform.rejectFiles = () => new PlatformError('unavailable', 'away');
    await world.advanceTimes(job, 1);
    const { stored, tagged } = await world.read(job);
    for (const file of [...Object.values(stored), ...Object.values(tagged ?? {})])
      await store.remove(file.name);
    world.platform.rejectFiles = undefined;
    await world.advanceTimes(job, 3);
    await expectComplete(world, job);
  });

  it('that are missing in a first listen are there in the end', async () => {
    const world = await createMediaWorld(await folder());
    const one = world.served.get('/one.mp3') ?? Buffer.alloc(0);
    world.served.delete('/one.mp3');
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, world.first);
    await world.advance(job);
    expect(world.shown().media).toEqual([]);
    expect(world.shown().footer).toBeUndefined();
    world.served.set('/one.mp3', one);
    await world.callback(job, world.complete);
    await world.advanceTimes(job, 1);
    await expectComplete(world, job);
  });

  it('that the gateway no longer has are named, and the others delivered', async () => {
    const world = await createMediaWorld(await folder());
    world.served.delete('/two.mp3');
    const job = await finishedSong(world);
    await world.advanceTimes(job, 20);
    expect((await world.read(job)).state).toBe('delivered');
    expect(sources(world)).toEqual(['stored']);
    expect(world.shown().footer).toContain('The service created Rain (take 2), but the download failed.');
    expect(world.shown().notify).toBe('incomplete');
  });

  it.each([403, 404])(
    'whose server responds with %i at first are delivered once available',
    async (status) => {
      const world = await createMediaWorld(await folder());
      world.absent.status = status;
      const two = world.served.get('/two.mp3') ?? Buffer.alloc(0);
      world.served.delete('/two.mp3');
      const job = await finishedSong(world);
      await world.advanceTimes(job, 3);
      expect((await world.read(job)).state).toBe('ready');
      world.served.set('/two.mp3', two);
      await world.advanceTimes(job, 1);
      await expectComplete(world, job);
    },
  );

  it('that the gateway no longer has are fetched from the fresh URL of a video', async () => {
    const world = await createMediaWorld(await folder());
    world.absent.status = 403;
    world.served.set('/fresh.mp4', samples.mp4);
    const film = (path: string) => ({ status: 'succeeded' as const, videoUrl: `${world.origin}${path}` });
    const unknown = new GatewayError({
      code: 'not-found',
      route: 'media/task',
      retryable: false,
      taken: 'no',
    });
    world.gateway.polls.push(film('/stale.mp4'), unknown, film('/stale.mp4'), film('/fresh.mp4'));
    const job = await world.start(VIDEO);
    await world.advanceTimes(job, 12);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.shown().media).toMatchObject([{ kind: 'video', source: { type: 'stored' } }]);
    expect(world.shown().footer).toBe('Requested by Ada');
    expect(world.gateway.taken).toHaveLength(1);
  });

  it.each([
    ['a web page', async (world: MediaWorld) => `${world.origin}/page.mp4`],
    ['a server that no longer exists', async () => `http://127.0.0.1:${await freePort()}/film.mp4`],
  ])('at an address that leads to %s are fetched from the fresh URL of a video', async (_, stale) => {
    const world = await createMediaWorld(await folder());
    world.served.set('/page.mp4', Buffer.from('<!DOCTYPE html><html>This link has expired</html>'));
    world.served.set('/fresh.mp4', samples.mp4);
    const film = (videoUrl: string) => ({ status: 'succeeded' as const, videoUrl });
    world.gateway.polls.push(film(await stale(world)), film(`${world.origin}/fresh.mp4`));
    const job = await world.start(VIDEO);
    await world.advanceTimes(job, 4);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.shown().media).toMatchObject([{ kind: 'video', source: { type: 'stored' } }]);
  });

  it('of a video are given up when every fresh URL leads to a web page', async () => {
    const world = await createMediaWorld(await folder());
    for (let nth = 0; nth < 20; nth += 1) {
      world.served.set(`/${nth}.mp4`, Buffer.from('<!DOCTYPE html><html>This link has expired</html>'));
      world.gateway.polls.push({ status: 'succeeded', videoUrl: `${world.origin}/${nth}.mp4` });
    }
    const job = await world.start(VIDEO);
    await world.advanceTimes(job, 20);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.shown().footer).toContain('the download failed');
    expect(world.gateway.polls.length).toBeGreaterThan(10);
  });

  it('are tagged from the first listen on, so that no song is posted twice', async () => {
    const world = await createMediaWorld(await folder());
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, world.first);
    await world.advance(job);
    const [early] = songs(world.shown().media);
    await world.callback(job, world.complete);
    await world.advance(job);
    const [final] = songs(world.shown().media);
    expect(final?.source).toEqual(early?.source);
    expect(await tagsIn(world, final)).toMatchObject({
      title: 'Rain',
      artist: 'Minstrel for Ada',
      lyrics: '[Verse]\nRain on the roof',
      images: [{ mimeType: 'image/png', kind: 'coverFront' }],
    });
  });

  it('include their smaller version, if it is available', async () => {
    const world = await createMediaWorld(await folder());
    const remote = (path: string) => ({ type: 'remote' as const, url: `${world.origin}${path}` });
    const smaller = { name: 'Rain', source: remote('/one.mp3') };
    const media = [{ kind: 'audio' as const, name: 'Rain', source: remote('/two.mp3'), smaller }];
    const command = world.dependencies.command('song');
    if (!command) throw new TypeError('no command');
    Object.assign(world.dependencies, { command: () => ({ ...command, done: () => ({ media }) }) });
    await world.advanceTimes(await finishedSong(world), 1);
    expect(world.shown().media).toMatchObject([
      { name: 'Rain.mp3', smaller: { name: 'Rain (2).mp3', source: { type: 'stored' } } },
    ]);
    world.served.delete('/one.mp3');
    const job = await finishedSong(world);
    await world.advanceTimes(job, 8);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.shown().media?.map((item) => [item.name, item.smaller])).toEqual([['Rain.mp3', undefined]]);
  });

  it('do not wait long for a cover that never arrives', async () => {
    const world = await createMediaWorld(await folder());
    world.served.delete('/cover.png');
    const job = await finishedSong(world);
    const startedAt = world.clock.now();
    await world.advanceTimes(job, 8);
    await expectComplete(world, job);
    expect(world.clock.now() - startedAt).toBeLessThan(10_000);
    expect(world.shown().media).toHaveLength(2);
    expect(world.shown().footer).toBe('Requested by Ada');
    const tags = await tagsIn(world, songs(world.shown().media)[0]);
    expect(tags).toMatchObject({ title: 'Rain', artist: 'Minstrel for Ada' });
    expect(tags.images ?? []).toEqual([]);
  });

  it('include a cover that arrives a moment later in their tags', async () => {
    const world = await createMediaWorld(await folder());
    const cover = world.served.get('/cover.png') ?? Buffer.alloc(0);
    world.served.delete('/cover.png');
    const job = await finishedSong(world);
    await world.advanceTimes(job, 1);
    world.served.set('/cover.png', cover);
    await world.advanceTimes(job, 1);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.shown().media).toHaveLength(3);
    expect((await tagsIn(world, songs(world.shown().media)[0])).images).toHaveLength(1);
  });

  it('derived from a song carry its tags, and come with the song as a smaller version', async () => {
    const world = await createMediaWorld(await folder());
    world.served.set('/lossless.wav', samples.wav);
    const parent = await finishedSong(world);
    await world.advance(parent);
    const job = await world.start({
      work: { route: 'music.wavGenerate', request: { taskId: 'task-1', audioId: 'audio-two' } },
      title: 'Converting to WAV: “Rain”',
      parent,
      basedOn: '“Rain”',
    });
    const url = `${world.origin}/lossless.wav`;
    await world.advance(job);
    await world.callback(job, { code: 200, data: { task_id: 'task-2', audioWavUrl: url } });
    await world.advance(job);
    const [wav] = songs(world.shown().media);
    expect(wav).toMatchObject({ name: 'Rain.wav', smaller: { name: 'Rain.mp3' } });
    expect(await tagsIn(world, wav)).toMatchObject({ title: 'Rain', artist: 'Minstrel for Ada' });
  });

  it('attached by a person must be attached again if they are no longer stored, and nothing is spent', async () => {
    const world = await createMediaWorld(await folder());
    const image = { name: `${'a'.repeat(64)}.png`, bytes: 1, contentType: 'image/png' };
    if (VIDEO.work.route !== 'media.video') throw new TypeError('no video');
    const job = await world.start({ ...VIDEO, work: { ...VIDEO.work, image } });
    await world.advanceTimes(job, 2);
    expect(world.shown().text).toContain('se the command again');
    expect(world.gateway.taken).toEqual([]);
  });
});
