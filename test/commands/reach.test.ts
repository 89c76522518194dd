import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { OptionDeclaration } from '../../src/core/options.ts';
import { openStudio, type Studio } from './song/world.ts';

const FILE = { name: 'demo.wav', url: 'https://cdn.example/demo.wav', contentType: 'audio/wav' };

const song = async (studio: Studio) =>
  studio.finish(await studio.ask('song', { prompt: 'a tune', title: 'Rain' }));
const onSong = (label: string) => async (studio: Studio) => studio.press(await song(studio), label);
const formOnSong = (label: string, values: Record<string, string>) => async (studio: Studio) =>
  studio.fill(await song(studio), label, values);
const remix = (mode: string) => (studio: Studio) =>
  studio.ask('remix', { audio: FILE, mode, prompt: 'la la', style: 'brass' });

/** Actions by their names in the documentation. */
const WAYS: Record<string, (studio: Studio) => Promise<Outcome>> = {
  '`/song`': (studio) => studio.ask('song', { prompt: 'a tune' }),
  '`/song --title`': (studio) => studio.ask('song', { prompt: 'a tune', title: 'Rain' }),
  '`/lyrics`': (studio) => studio.ask('lyrics', { topic: 'rain' }),
  '`/stems`': async (studio) => {
    await song(studio);
    return studio.ask('stems');
  },
  '`/remix --mode cover`': remix('cover'),
  '`/remix --mode extend`': remix('extend'),
  '`/remix --mode vocals`': remix('vocals'),
  '`/remix --mode instrumental`': remix('instrumental'),
  '**Again**': onSong('Again'),
  '**Change**': formOnSong('Change', {}),
  '**Extend**': formOnSong('Extend take 1', {}),
  '**Stems**': formOnSong('Stems take 1', {}),
  '**Karaoke**': onSong('Karaoke take 1'),
  '**WAV**': onSong('WAV take 1'),
  '**Music video**': onSong('Music video take 2'),
  '**Cover art**': onSong('Cover art'),
  '**Save voice**': formOnSong('Save voice take 1', { name: 'Rainy' }),
  '**Sing it**': async (studio) =>
    studio.fill(await studio.finish(await studio.ask('lyrics', { topic: 'rain' })), 'Sing 1'),
  '**Sing with it**': async (studio) => {
    const saved = await studio.fill(await song(studio), 'Save voice take 1', { name: 'Rainy' });
    return studio.fill(await studio.finish(saved), 'Sing with it', { prompt: 'snow' });
  },
};

const rows = readFileSync('docs/gateway.md', 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .flatMap(([, route = '', method = '', , usedBy = '']) =>
    route.startsWith('`POST /music/')
      ? [{ method: method.replaceAll('`', ''), ways: usedBy.split(', ') }]
      : [],
  );

it('the documentation lists all fourteen music routes', () => {
  expect(rows.map(({ method }) => method).toSorted()).toEqual([
    'music.addInstrumental',
    'music.addVocals',
    'music.extend',
    'music.generate',
    'music.generateCover',
    'music.generateLyrics',
    'music.generatePersona',
    'music.mp4Generate',
    'music.styleGenerate',
    'music.timestampedLyrics',
    'music.uploadCover',
    'music.uploadExtend',
    'music.vocalRemoval',
    'music.wavGenerate',
  ]);
});

describe('the documented actions reach every music route', () => {
  it.each(rows.flatMap(({ method, ways }) => ways.map((way) => [method, way] as const)))(
    '%s by %s',
    async (method, way) => {
      await using studio = await openStudio();
      const act = WAYS[way];
      if (!act) throw new Error(`No action for ${way}`);
      const outcome = await act(studio);
      const before = studio.world.gateway.taken.filter(({ route }) => route === method).length;
      await studio.finish(outcome);
      const after = studio.world.gateway.taken.filter(({ route }) => route === method).length;
      expect(after).toBeGreaterThan(before);
    },
  );
});

describe('the forms of all commands', () => {
  const parts = commands.flatMap((command) => [
    { name: command.name, part: command },
    ...Object.entries(command.subcommands ?? {}).map(([name, part]) => ({
      name: `${command.name} ${name}`,
      part,
    })),
  ]);

  it.each(parts)('$name: texts fit on every platform, and help is a sentence', ({ part }) => {
    const { title = '', submitLabel = '' } = part.form ?? {};
    expect(title.length).toBeLessThanOrEqual(24);
    expect(submitLabel.length).toBeLessThanOrEqual(24);
    for (const { label = '', help } of Object.values<OptionDeclaration>(part.options)) {
      expect(label.length).toBeLessThanOrEqual(45);
      if (help === undefined) continue;
      expect(help.length).toBeLessThanOrEqual(100);
      expect(help).toMatch(/^[\p{Lu}\d].*[.?]$/u);
    }
  });
});
