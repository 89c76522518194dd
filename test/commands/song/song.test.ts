import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withTake } from '../../../commands/song/takes.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import { type Message, parseActionId } from '../../../src/core/message.ts';
import { createJobs } from '../../../src/jobs/jobs.ts';
import { arrangeButtons, shownLabel } from '../../../src/platforms/shared/buttons.ts';
import { createBotOn } from '../../core/bot-on-world.ts';
import { gatewayError } from '../../jobs/scripted-gateway.ts';
import { BOB, labelsOf, MODERATOR, openStudio, privateText, type Studio } from './world.ts';

let studio: Studio;

beforeEach(async () => {
  studio = await openStudio();
});
afterEach(() => studio[Symbol.asyncDispose]());

const makeSong = async (options = {}) =>
  studio.finish(await studio.ask('song', { prompt: 'a tune for rain', ...options }));
const sentTo = (route: string) =>
  studio.world.gateway.taken.filter((sent) => sent.route === route).map(({ request }) => request);
const field = ({ fields = [] }: Message, name: string) =>
  fields.find((candidate) => candidate.name === name)?.value;

describe('under a song', () => {
  it('shows the buttons of both takes equally, then those of the song, and the rest in a menu', async () => {
    const { actions = [] } = await makeSong();
    const takeLabels = ['Extend', 'Stems', 'Karaoke', 'WAV', 'Music video', 'Save voice'];
    expect(actions.map(({ label }) => label)).toEqual([
      ...[1, 2].flatMap((take) => [
        `Play take ${take} in voice`,
        ...takeLabels.map((label) => `${label} take ${take}`),
      ]),
      ...['Lyrics', 'Change', 'Again', 'Cover art'],
    ]);
    expect(actions[0]).toMatchObject({ short: 'Play 1 in voice', group: 'Take 1', icon: 'play' });
    const { rows, more } = arrangeButtons(actions);
    expect(rows.map((row) => row.map(shownLabel))).toEqual([
      ['Play 1 in voice', 'Extend 1', 'Stems 1'],
      ['Play 2 in voice', 'Extend 2', 'Stems 2'],
      ['Lyrics', 'Change', 'Again'],
    ]);
    expect(more).toContainEqual(
      expect.objectContaining({ item: 'WAV', group: 'Take 2', hint: 'A file with lossless audio' }),
    );
  });

  it('an instrumental has no buttons for karaoke, lyrics and voice', async () => {
    const song = await makeSong({ instrumental: true });
    expect(labelsOf(song).filter((label) => /Karaoke|Lyrics|Save voice/.test(label))).toEqual([]);
  });

  it('Extend without values continues the song unchanged', async () => {
    const song = await makeSong();
    const longer = await studio.finish(await studio.fill(song, 'Extend take 2'));
    expect(sentTo('music.extend')).toEqual([
      {
        audioId: 'audio-two',
        model: 'V5',
        defaultParamFlag: false,
        callBackUrl: expect.stringContaining('/callbacks/music/'),
      },
    ]);
    expect(field(longer, 'Extended from')).toBe('“Rain”, take 2');
    expect(labelsOf(longer)).toContain('Extend take 1');
  });

  it('Extend with one value sends every field that the gateway requires', async () => {
    const song = await makeSong({ model: 'V4_5' });
    await studio.finish(
      await studio.fill(song, 'Extend take 1', { style: 'choir', prompt: 'Bridge:\nHigher', from: 60 }),
    );
    expect(sentTo('music.extend')[0]).toMatchObject({
      defaultParamFlag: true,
      model: 'V4_5',
      style: 'choir',
      title: 'Rain',
      prompt: '[Bridge]\nHigher',
      continueAt: 60,
    });
    const late = await studio.fill(song, 'Extend take 1', { from: 95 });
    expect(late).toMatchObject({ option: 'from' });
    expect(privateText(late)).toContain('ends at 1:32');
  });

  it('Stems have names and an order, and an archive if there are many', async () => {
    const song = await makeSong();
    const two = await studio.finish(await studio.fill(song, 'Stems take 1'));
    expect(two.media?.map(({ name }) => name)).toEqual([
      'Rain, take 1 - vocals.mp3',
      'Rain, take 1 - instrumental.mp3',
    ]);
    const all = await studio.finish(await studio.fill(song, 'Stems take 1', { split: 'all' }));
    expect(all.media?.map(({ name }) => name)).toEqual([
      'Rain, take 1 - vocals.mp3',
      'Rain, take 1 - backing vocals.mp3',
      'Rain, take 1 - drums.mp3',
      'Rain, take 1 - bass.mp3',
      'Rain, take 1 - synth.mp3',
      'Rain, take 1 - theremin.mp3',
      'Rain, take 1 - all stems.zip',
    ]);
  });

  it('Cover art, WAV and Music video name their source', async () => {
    const song = await makeSong();
    const covers = await studio.finish(await studio.press(song, 'Cover art'));
    expect(covers.media).toHaveLength(2);
    expect(covers.title).toBe('Cover art for Rain');
    const wav = await studio.finish(await studio.press(song, 'WAV take 2'));
    expect(wav.media?.[0]?.kind).toBe('audio');
    expect(wav.title).toBe('WAV of Rain, take 2');
    const video = await studio.finish(await studio.press(song, 'Music video take 1'));
    expect(video.media?.[0]?.kind).toBe('video');
  });

  it('Karaoke shows timed lines and attaches them as a file', async () => {
    const song = await makeSong();
    studio.world.gateway.words.push(
      { word: '[Verse]\nRain ', startSeconds: 1, endSeconds: 1.4 },
      { word: 'falls\n', startSeconds: 1.5, endSeconds: 2 },
      { word: 'Down\n', startSeconds: 61.239, endSeconds: 62 },
    );
    const karaoke = await studio.finish(await studio.press(song, 'Karaoke take 1'));
    expect(karaoke.text).toBe('**Verse**\n`0:01` Rain falls\n`1:01` Down');
    expect(karaoke.media?.map(({ name }) => name)).toEqual(['Rain, take 1.lrc']);
    studio.world.gateway.words.length = 0;
    const withoutLyrics = await studio.finish(await studio.press(song, 'Karaoke take 2'));
    expect(withoutLyrics.text).toContain('no lyrics');
  });

  it('Again repeats the request; Change prefills a form and keeps other values', async () => {
    const song = await makeSong({ style: 'lofi', title: 'Rain', lyrics: 'Chorus:\nDrip' });
    await studio.finish(await studio.press(song, 'Again'));
    const [first, again] = sentTo('music.generate');
    expect({ ...again, callBackUrl: '' }).toEqual({ ...first, callBackUrl: '' });
    const form = await studio.press(song, 'Change');
    expect(form).toMatchObject({
      type: 'form',
      form: {
        initial: { lyrics: '[Chorus]\nDrip', title: 'Rain', style: 'lofi', instrumental: false, model: 'V5' },
      },
    });
    await studio.finish(await studio.fill(song, 'Change', { style: 'polka' }));
    expect(sentTo('music.generate')[2]).toMatchObject({ style: 'polka', prompt: '[Chorus]\nDrip' });
  });

  it('labels a style that was derived from the prompt', async () => {
    const song = await makeSong({ title: 'Rain' });
    expect(field(song, 'Style (from your description)')).toBe('a tune for rain, polished');
  });
});

describe('while a song is being created', () => {
  it('one message shows the lyrics, then a link to the stream, then the first take', async () => {
    const { world } = studio;
    const outcome = await studio.ask('song', { prompt: 'a tune', title: 'Rain', style: 'lofi' });
    const { id } = await studio.stored(outcome);
    const messages: Message[] = [];
    const callBack = async (data: object[], callbackType: string) => {
      await world.callback(id, { code: 200, data: { callbackType, task_id: 'song', data } });
      await world.advance(id);
      messages.push(world.message() ?? {});
    };
    const song = { id: 'audio-one', title: 'Rain', prompt: '[Chorus]\nDrip', tags: 'lofi' };
    await world.advance(id);
    await world.callback(id, {
      code: 200,
      data: { callbackType: 'complete', taskId: 'words', data: [{ title: 'Rain', text: 'Drip' }] },
    });
    await world.advance(id);
    await callBack([song], 'text');
    const streaming = { ...song, stream_audio_url: 'https://gateway.example/live(1)' };
    await callBack([streaming], 'first');
    await callBack([{ ...streaming, audio_url: 'https://gateway.example/one.mp3' }], 'first');
    expect(messages.map(({ text }) => text)).toEqual(['> Drip', '> Drip', '> Drip']);
    expect(messages.map(labelsOf)).toEqual([
      ['Lyrics', 'Cancel'],
      ['Listen', 'Lyrics', 'Cancel'],
      ['Lyrics', 'Cancel'],
    ]);
    expect(messages[1]?.actions?.[0]).toMatchObject({ url: 'https://gateway.example/live(1)' });
    expect(privateText(await studio.press(messages[0] ?? {}, 'Lyrics'))).toContain('Drip');
    expect(messages.map(({ media = [] }) => media.length)).toEqual([0, 0, 1]);
    expect(field(messages[0] ?? {}, 'Style')).toBe('lofi');
    expect(world.platform.shown.size).toBe(1);
  });
});

describe('a voice', () => {
  const save = (song: Message, values = {}) =>
    studio.fill(song, 'Save voice take 1', { name: 'Rainy', ...values });

  it('can be saved for the server, completed by name, used, listed and removed', async () => {
    const saved = await studio.finish(await save(await makeSong()));
    expect(saved.title).toBe('The voice “Rainy” is saved');
    expect(sentTo('music.generatePersona')[0]).toMatchObject({
      taskId: 'task-1',
      audioId: 'audio-one',
      name: 'Rainy',
      vocalStart: 0,
      vocalEnd: 30,
    });
    const address = { platform: 'discord', guild: 'guild', channel: 'elsewhere', person: 'bob' };
    const choices = await studio.bot.suggest({
      command: 'song',
      option: 'voice',
      options: {},
      typed: 'rai',
      address,
      person: BOB,
    });
    expect(choices).toEqual([{ name: 'Rainy', value: 'Rainy' }]);

    const song = await studio.finish(await studio.fill(saved, 'Sing with it', { prompt: 'snow' }));
    expect(sentTo('music.generate').at(-1)).toMatchObject({ personaId: 'persona-of-audio-one' });
    expect(field(song, 'Voice')).toBe('Rainy');

    const list = privateText(await studio.ask('voices', {}, { subcommand: 'show' }));
    expect(list).toContain('**Rainy**');
    expect(list).toContain('saved by Ada');
    const remove = (person: typeof BOB) =>
      studio.ask('voices', { voice: 'rainy' }, { subcommand: 'remove', person });
    expect(privateText(await remove(BOB))).toContain('Only Ada, who saved');
    expect(privateText(await remove(MODERATOR))).toContain('Removed “Rainy”');
    expect(privateText(await studio.ask('song', { prompt: 'snow', voice: 'Rainy' }))).toContain(
      'No voices are saved here yet',
    );
  });

  it('can be saved again at no cost after it was removed', async () => {
    const song = await makeSong();
    await studio.finish(await save(song));
    const removed = await studio.ask('voices', { voice: 'rainy' }, { subcommand: 'remove' });
    expect(privateText(removed)).toContain('save it again at no cost');
    expect(await studio.press(song, 'Save voice take 1')).toMatchObject({
      form: { title: 'Save again at no cost' },
    });
    const before = studio.world.gateway.taken.length;
    expect(privateText(await save(song, { name: 'Rainy again' }))).toContain('was saved again');
    expect(studio.world.gateway.taken).toHaveLength(before);
    await studio.finish(await studio.ask('song', { prompt: 'snow', voice: 'Rainy again' }));
    expect(sentTo('music.generate').at(-1)).toMatchObject({ personaId: 'persona-of-audio-one' });
  });

  it('no longer names the song once its author is forgotten', async () => {
    const song = await makeSong();
    const byBob = () => studio.fill(song, 'Save voice take 1', { name: 'Deep' }, { person: BOB });
    const list = async () => privateText(await studio.ask('voices', {}, { subcommand: 'show' }));
    const title = '“Rain”, take 1';
    await studio.finish(await byBob());
    expect(await list()).toContain(`The voice of ${title}; from ${title}`);
    await studio.ask('voices', { voice: 'deep' }, { subcommand: 'remove', person: MODERATOR });
    await byBob();
    expect(await list()).toContain(`The voice of ${title}; from ${title}`);
    await studio.world.voices.forget('discord', 'ada');
    expect(await list()).toMatch(/\*\*Deep\*\*: The voice of a song; saved by Bob/);
  });

  it('cannot be saved again under a name that is in use', async () => {
    const song = await makeSong();
    await studio.finish(await save(song));
    await studio.ask('voices', { voice: 'Rainy' }, { subcommand: 'remove' });
    await studio.finish(await studio.fill(song, 'Save voice take 2', { name: 'Rainy' }));
    expect(privateText(await save(song, { name: 'rainy' }))).toContain(
      'A voice named “rainy” already exists here. Choose another name.',
    );
    expect(privateText(await studio.ask('voices', {}, { subcommand: 'show' }))).not.toContain('Rainy 2');
  });

  it('of a cover is dropped when Change selects a mode without voices', async () => {
    await studio.finish(await save(await makeSong()));
    const cover = await studio.finish(
      await studio.ask('remix', { mode: 'cover', style: 'brass', voice: 'Rainy' }),
    );
    await studio.finish(await studio.fill(cover, 'Change', { mode: 'extend', prompt: 'la la' }));
    expect(sentTo('music.uploadExtend')).toHaveLength(1);
    await studio.finish(await studio.fill(cover, 'Change', { style: 'polka' }));
    expect(sentTo('music.uploadCover').at(-1)).toMatchObject({ personaId: 'persona-of-audio-one' });
  });

  it('beyond the limit of the server is refused before anything is spent', async () => {
    const song = await makeSong();
    const where = { platform: 'discord', guild: 'guild', channel: 'channel' };
    const list = await studio.world.voices.list(where);
    expect(list).toEqual([]);
    const many = Array.from({ length: 500 }, (_, n) => ({
      personaId: `p${n}`,
      name: `Voice ${n}`,
      savedBy: { id: 'bob', displayName: 'Bob' },
      savedAt: 1,
    }));
    await studio.world.storage.settings.set('voices:discord:server:guild', { version: 1, voices: many });
    expect(privateText(await studio.press(song, 'Save voice take 1'))).toContain('500 voices are saved here');
    expect(sentTo('music.generatePersona')).toEqual([]);
  });

  it('is not replaced by a similar name when Change finds it removed', async () => {
    await studio.finish(await save(await makeSong()));
    const song = await studio.finish(await studio.ask('song', { prompt: 'snow', voice: 'Rainy' }));
    await studio.ask('voices', { voice: 'Rainy' }, { subcommand: 'remove' });
    const where = { platform: 'discord', guild: 'guild', channel: 'channel' };
    const other = { personaId: 'other', savedBy: { id: 'bob', displayName: 'Bob' }, savedAt: 1 };
    await studio.world.voices.save(where, { ...other, name: 'Rainy day' });
    expect(privateText(await studio.fill(song, 'Change', { title: 'Snow' }))).toContain(
      'The voice “Rainy” was removed.',
    );
  });

  it('that was removed cannot be used by Again until it is saved again', async () => {
    const first = await makeSong();
    await studio.finish(await save(first));
    const song = await studio.finish(await studio.ask('song', { prompt: 'snow', voice: 'Rainy' }));
    const cover = await studio.finish(
      await studio.ask('remix', { mode: 'cover', style: 'brass', voice: 'Rainy' }),
    );
    await studio.ask('voices', { voice: 'Rainy' }, { subcommand: 'remove' });
    for (const result of [song, cover])
      expect(privateText(await studio.press(result, 'Again'))).toContain('The voice “Rainy” was removed.');
    await save(first);
    for (const result of [song, cover])
      expect((await studio.press(result, 'Again', { person: BOB })).type).toBe('accepted');
  });

  it('is refused for an instrumental before anything is spent', async () => {
    await studio.finish(await save(await makeSong()));
    const { taken } = studio.world.gateway;
    const before = taken.length;
    for (const outcome of [
      await studio.ask('song', { prompt: 'snow', voice: 'Rainy', instrumental: true }),
      await studio.ask('remix', { mode: 'cover', style: 'brass', voice: 'Rainy', instrumental: true }),
    ])
      expect(privateText(outcome)).toBe(
        "An instrumental can't have a voice. Leave out “voice” or “instrumental”.",
      );
    expect(taken).toHaveLength(before);
  });

  it('of another server is not available', async () => {
    await studio.finish(await save(await makeSong()));
    const elsewhere = { platform: 'discord', guild: 'other', channel: 'channel', person: 'ada' };
    const outcome = await studio.ask(
      'song',
      { prompt: 'snow', voice: 'persona-of-audio-one' },
      { address: elsewhere },
    );
    expect(privateText(outcome)).toContain('No voices are saved here yet');
  });

  it('that exists already is reported, before and after the request to the gateway', async () => {
    const song = await makeSong();
    await studio.finish(await save(song));
    expect(privateText(await studio.press(song, 'Save voice take 1'))).toContain(
      'saved the voice of this take as “Rainy”',
    );
    studio.world.gateway.replies.push(gatewayError('exists'));
    const message = await studio.finish(await studio.fill(song, 'Save voice take 2', { name: 'Other' }));
    expect(message.title).toBe('This voice is already saved');
    expect(message.text).toContain(
      "Only one voice can be created from each take, and this take's voice already exists. Find it with /voices show, or save the voice of another take.",
    );
  });

  it.each([
    [{ start: 0, end: 5 }, /10 to 30 seconds long. Yours, from 0 s to 5 s, is 5/],
    [{ start: 0, end: 31 }, /10 to 30 seconds/],
    [{ start: 92, end: 102 }, /earlier start/],
    [{ start: 85, end: 100 }, /earlier end/],
    [{ name: 'x'.repeat(81) }, /81 characters/],
  ])('with %j is refused before anything is spent', async (values, sentence) => {
    expect(privateText(await save(await makeSong(), values))).toMatch(sentence);
    expect(sentTo('music.generatePersona')).toEqual([]);
  });

  it('is saved once if the job runs again after a restart', async () => {
    const outcome = await save(await makeSong());
    const { id } = await studio.stored(outcome);
    await studio.finish(outcome);
    await studio.world.advance(id);
    const where = { platform: 'discord', guild: 'guild', channel: 'channel' };
    expect(await studio.world.voices.list(where)).toHaveLength(1);
  });
});

describe('/remix', () => {
  const audio = {
    name: 'demo.wav',
    url: 'https://cdn.example/demo.wav',
    contentType: 'audio/wav',
    bytes: 1000,
  };
  const remix = (options: Parameters<Studio['ask']>[1]) => studio.ask('remix', { audio, ...options });

  it.each([
    [
      { mode: 'cover', prompt: 'a waltz' },
      'music.uploadCover',
      { customMode: false, instrumental: false, model: 'V5', prompt: 'a waltz' },
    ],
    [
      { mode: 'cover', style: 'waltz', instrumental: true },
      'music.uploadCover',
      { customMode: true, instrumental: true, title: 'demo (cover)', style: 'waltz' },
    ],
    [
      { mode: 'cover', style: 'waltz', title: 'Turn' },
      'music.uploadCover',
      { customMode: true, style: 'waltz', title: 'Turn', prompt: '[Verse]\nWritten first' },
    ],
    [{ mode: 'extend' }, 'music.uploadExtend', { defaultParamFlag: false, model: 'V5' }],
    [
      { mode: 'extend', style: 'waltz', prompt: 'la' },
      'music.uploadExtend',
      { defaultParamFlag: true, style: 'waltz', title: 'demo (extended)', continueAt: 59.9, prompt: 'la' },
    ],
    [
      { mode: 'vocals', prompt: 'la la', style: 'soft' },
      'music.addVocals',
      { prompt: 'la la', style: 'soft', title: 'demo (with vocals)', negativeTags: '', model: 'V5' },
    ],
    [
      { mode: 'instrumental', style: 'strings' },
      'music.addInstrumental',
      { tags: 'strings', title: 'demo (with a band)', negativeTags: '' },
    ],
  ])('%j', async (options, route, request) => {
    const message = await studio.finish(await remix(options));
    expect(sentTo(route)).toEqual([
      expect.objectContaining({ ...request, uploadUrl: 'https://bot.example/files/demo.wav' }),
    ]);
    expect(message.fields?.map(({ value }) => value)).toContain('demo');
    expect(labelsOf(message)).toEqual(expect.arrayContaining(['Extend take 1', 'Change', 'Again']));
  });

  it('extends an instrumental of this channel into another instrumental, without karaoke', async () => {
    await makeSong({ instrumental: true });
    const longer = await studio.finish(await studio.ask('remix', { mode: 'extend' }));
    expect(labelsOf(longer).filter((label) => /Karaoke|Save voice/.test(label))).toEqual([]);
    const changed = await studio.finish(await studio.fill(longer, 'Change'));
    expect(labelsOf(changed).filter((label) => /Karaoke|Save voice/.test(label))).toEqual([]);
  });

  it('uses the latest song if no file is attached', async () => {
    await makeSong();
    const outcome = await studio.ask('remix', { mode: 'extend' });
    expect(await studio.stored(outcome)).toMatchObject({ basedOn: '“Rain”, take 1' });
    await studio.finish(outcome);
    expect(sentTo('music.uploadExtend')[0]).toMatchObject({
      uploadUrl: 'https://bot.example/files/one.mp3',
    });
  });

  it('of a song adds a suffix to its title only once', async () => {
    const remixAgain = async () => {
      await studio.finish(await studio.ask('remix', { mode: 'cover', style: 'waltz', instrumental: true }));
      return sentTo('music.uploadCover').at(-1);
    };
    const { title } = await makeSong();
    expect(await remixAgain()).toMatchObject({ title: `${title} (cover)` });
    expect(withTake(`${title} (cover)`, 1)).toBe(`${title} (cover, take 2)`);
    expect(await remixAgain()).toMatchObject({ title: `${title} (cover)` });
  });

  it('Change prefills the form and keeps the recording', async () => {
    const message = await studio.finish(await remix({ mode: 'cover', style: 'waltz', title: 'Turn' }));
    await studio.finish(await studio.fill(message, 'Change', { mode: 'instrumental', style: 'brass' }));
    expect(sentTo('music.addInstrumental')[0]).toMatchObject({ tags: 'brass' });
  });

  it.each([
    [{ mode: 'cover' }, /how the cover should sound/],
    [{ mode: 'vocals' }, /Enter the lyrics in/],
    [{ mode: 'vocals', prompt: 'la', instrumental: true }, /adds vocals/],
    [{ mode: 'instrumental' }, /how the band should sound/],
    [{ mode: 'extend', title: 'More' }, /lyrics for the new part/],
    [{ mode: 'vocals', prompt: 'la', model: 'V4' }, /V4_5PLUS, V5 or a newer one/],
    [{ mode: 'cover', style: 'x'.repeat(201), model: 'V4' }, /201 characters. The limit is 200/],
    [{ prompt: 'la' }, /The option “mode” is required/],
  ])('%j is refused before anything is spent', async (options, sentence) => {
    expect(privateText(await remix(options))).toMatch(sentence);
    expect(studio.world.gateway.taken).toEqual([]);
  });

  it('refuses a recording that is too long or of unknown length', async () => {
    const textOf = async (model?: string) =>
      (await studio.finish(await remix({ mode: 'extend', model }))).text;
    studio.world.recording.seconds = 481;
    expect(await textOf()).toContain('is too long: 8:01. The limit of the model V5 is 8:00');
    studio.world.recording.seconds = 61;
    expect(await textOf('V4_5ALL')).toContain(
      'V4_5ALL is 1:00. Attach a shorter part, or choose another model.',
    );
    studio.world.recording.seconds = undefined;
    expect(await textOf()).toContain("can't tell how long");
    expect(studio.world.gateway.taken).toEqual([]);
    expect(privateText(await studio.ask('remix', { mode: 'extend' }))).toContain('no songs here');
  });
});

it('without voice channels, /party offers the page of a song, or its file', async () => {
  const { actions: [first] = [] } = await makeSong({ title: 'Rain' });
  const play = async () => await studio.ask('party', {});
  expect(await play()).toMatchObject({
    message: {
      text: expect.stringContaining('in Discord voice channels'),
      actions: [{ type: 'link', label: 'Open page', url: expect.stringContaining('/songs/') }],
    },
  });
  const { job = '' } = parseActionId(first?.type === 'action' ? first.id : '') ?? {};
  await studio.world.jobs.setPage(job, true);
  expect(await play()).toMatchObject({
    message: { media: [{ kind: 'audio', name: 'Rain (take 1).mp3' }] },
  });
});

describe('custom mode', () => {
  it('recognises sections in every notation', async () => {
    const lyrics = 'Verse 1:\nDrip\n(Pre-Chorus)\ndrop\n**Chorus**\n[Hook]\nEnd\nThe chorus: a word';
    await studio.finish(await studio.ask('song', { lyrics, style: 'lofi', title: 'Rain' }));
    expect(sentTo('music.generate')[0]).toMatchObject({
      prompt: '[Verse 1]\nDrip\n[Pre-Chorus]\ndrop\n[Chorus]\n[Hook]\nEnd\nThe chorus: a word',
    });
  });

  it.each(['#', '*', '( ', '[ ', 'verse ', ' '])('keeps a line of many %j unchanged', async (character) => {
    const line = `${character.repeat(700)}x`;
    await studio.finish(await studio.ask('song', { lyrics: `A\n${line}`, style: 'lofi', title: 'Rain' }));
    expect(sentTo('music.generate')[0]).toMatchObject({ prompt: `A\n${line}` });
  });
});

describe('songs of this channel', () => {
  it('are completed by /song, and shown with their buttons', async () => {
    await makeSong();
    const address = { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' };
    const choices = await studio.bot.suggest({
      command: 'song',
      option: 'earlier',
      options: {},
      typed: '',
      address,
      person: BOB,
    });
    expect(choices.map(({ name }) => name)).toEqual(['Rain (take 1)', 'Rain (take 2)']);
    const found = await studio.ask('song', { earlier: choices[1]?.value });
    if (found.type !== 'message') throw new Error('no message');
    expect(found.message.title).toBe('Rain, take 2');
    const longer = await studio.fill(found.message, 'Extend take 2');
    expect(longer.type).toBe('accepted');
    expect(privateText(await studio.ask('song', { earlier: 'Rain', prompt: 'snow' }))).toContain(
      'Use “earlier” alone',
    );
  });
});

describe('a song that the gateway no longer has', () => {
  it.each([
    ['WAV take 1', /no longer has this song, so it can't convert it to WAV/],
    ['Karaoke take 1', /no longer has this song/],
    ['Music video take 1', /no longer has this song/],
    ['Cover art', /no longer has this song/],
  ])('%s reports it and suggests /remix', async (label, sentence) => {
    const song = await makeSong();
    studio.world.gateway.replies.push(gatewayError('not-found'));
    const message = await studio.finish(await studio.press(song, label));
    expect(message.text).toMatch(sentence);
    expect(message.text).toContain(
      '. The files in the channel still work with /remix. To create the song again, press Again under the song.',
    );
  });

  it('reports a WAV that the gateway has already created', async () => {
    const song = await makeSong();
    studio.world.gateway.replies.push(gatewayError('exists'));
    const message = await studio.finish(await studio.press(song, 'WAV take 1'));
    expect(message.text).toContain('already converted this take to WAV');
  });
});

describe('buttons', () => {
  it('work on another replica', async () => {
    const song = await makeSong();
    const { world } = studio;
    const replica = createBotOn({ ...world, jobs: createJobs(world.dependencies) });
    const button = song.actions?.find(({ label }) => label === 'WAV take 2');
    const { job = '' } = parseActionId(button?.type === 'action' ? button.id : '') ?? {};
    const outcome = await replica.run({
      id: 'other replica',
      command: 'song',
      options: {},
      action: { name: 'wav', job, index: 1 },
      address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'bob' },
      person: BOB,
    });
    const wav = await studio.finish(outcome);
    expect(wav.title).toBe('WAV of Rain, take 2');
  });

  it('work after a year, but not in another server', async () => {
    const song = await makeSong();
    studio.world.clock.advance(366 * 24 * 3_600_000);
    const longer = await studio.finish(await studio.fill(song, 'Extend take 1'));
    expect(labelsOf(longer)).toContain('Again');
    const elsewhere = { platform: 'discord', guild: 'other', channel: 'channel', person: 'ada' };
    for (const label of labelsOf(song)) {
      const outcome: Outcome = await studio.press(song, label, { address: elsewhere });
      expect(privateText(outcome)).toBe('This button only works in the server where it was posted.');
    }
  });
});

it('a song that the service declined offers Change, with the last input', async () => {
  studio.world.gateway.replies.push(gatewayError('copyright'));
  const failed = await makeSong({ lyrics: 'Known words', style: 'folk' });
  expect(labelsOf(failed)).toEqual(['Change', 'Again']);
  const song = await studio.finish(await studio.fill(failed, 'Change', { lyrics: 'My own words' }));
  expect(sentTo('music.generate').at(-1)).toMatchObject({ prompt: 'My own words', style: 'folk' });
  expect(song.isFailure).toBeUndefined();
});

it('a song that was declined before its lyrics were written keeps its description in Change', async () => {
  studio.world.gateway.replies.push(gatewayError('blocked'));
  const failed = await makeSong({ prompt: 'a march', style: 'brass' });
  const opened = await studio.press(failed, 'Change');
  expect(opened).toMatchObject({ form: { initial: { prompt: 'a march', style: 'brass' } } });
});

it('/lyrics shows short variants in columns, and Sing 2 uses one', async () => {
  const message = await studio.finish(await studio.ask('lyrics', { topic: 'rain' }));
  expect(message.fields).toEqual([
    { name: 'Version 1: Drip', value: '[Verse]\nDrip drop' },
    { name: 'Version 2: Pour', value: '[Chorus]\nLet it pour' },
  ]);
  await studio.finish(await studio.fill(message, 'Sing 2'));
  expect(sentTo('music.generate')[0]).toMatchObject({ title: 'Pour', prompt: '[Chorus]\nLet it pour' });
});

it('Animate creates a video from the stored image', async () => {
  const image = await studio.finish(await studio.ask('image', { prompt: 'a fox' }));
  const outcome = await studio.fill(image, 'Animate', { prompt: 'it looks up', duration: '10' });
  const { id } = await studio.stored(outcome);
  await studio.world.advance(id);
  expect(await studio.world.read(id)).toMatchObject({
    command: 'video',
    basedOn: '“a fox”',
    work: { request: { prompt: 'it looks up', duration: 10 }, image: { name: 'picture.png' } },
  });
});
