/** Plays stems sample-accurately in sync: all start at the same time on one clock. */
import { channelsOf, decode } from './audio.js';
import { fittingSampleRate, wavesOf } from './mixing.js';

/** Memory limit for decoded stems, in bytes. Phones close pages that use more. */
const BUDGET_BYTES = 400 * 1024 * 1024;
/** Delay before sources start, so that all start together, in seconds. */
const LEAD_SECONDS = 0.05;
/** Fade time for gain changes, in seconds. An abrupt change would click. */
const SMOOTH_SECONDS = 0.015;
/** A song of unknown length, in seconds. */
const TYPICAL_SECONDS = 240;

/**
 * @param {readonly ArrayBuffer[]} files
 * @param {number} seconds estimated length of one stem
 */
export async function openDeck(files, seconds = TYPICAL_SECONDS) {
  const rate = fittingSampleRate(seconds * files.length, BUDGET_BYTES);
  const context = new AudioContext({ sampleRate: rate, latencyHint: 'playback' });
  /** Awaited before resuming: Chromium's clock stops forever if it is resumed while it is being suspended. */
  let suspended = context.suspend();
  await suspended;
  /** @type {AudioBuffer[]} */
  const buffers = [];
  // Decode one at a time: each uses all cores, and peak memory stays low.
  for (const file of files) buffers.push(await decode(context, file));
  const gains = buffers.map(() => {
    const gain = new GainNode(context);
    gain.connect(context.destination);
    return gain;
  });
  const duration = Math.max(0, ...buffers.map((buffer) => buffer.duration));
  /** @type {AudioBufferSourceNode[]} */
  let sources = [];
  let playing = false;
  /** The number of the latest `play` call: the clock resumes slowly, so newer calls may arrive first. */
  let latestCall = 0;
  /** When playback started: a clock time and a position in the stems, in seconds. */
  let origin = { at: 0, position: 0 };

  const stopSources = () => {
    for (const source of sources) {
      source.onended = null;
      source.stop();
      source.disconnect();
    }
    sources = [];
  };
  const stop = () => {
    playing = false;
    stopSources();
    suspended = context.suspend();
  };
  const position = () =>
    sources.length > 0
      ? Math.min(duration, Math.max(origin.position, origin.position + context.currentTime - origin.at))
      : origin.position;

  const deck = {
    buffers,
    duration,
    position,
    /** The waveform of each stem. @param {number} bars */
    levels: (bars) => wavesOf(buffers.map(channelsOf), bars),
    get playing() {
      return playing;
    },
    async play() {
      if (playing) return;
      playing = true;
      latestCall += 1;
      const call = latestCall;
      try {
        await suspended;
        if (!playing || call !== latestCall) return;
        await context.resume();
      } catch (error) {
        if (call === latestCall) playing = false;
        throw error;
      }
      if (!playing || call !== latestCall) return;
      const from = origin.position >= duration ? 0 : origin.position;
      const at = context.currentTime + LEAD_SECONDS;
      sources = buffers.map((buffer, index) => {
        const source = new AudioBufferSourceNode(context, { buffer });
        const gain = gains[index];
        if (gain) source.connect(gain);
        source.onended = () => {
          sources = sources.filter((other) => other !== source);
          if (sources.length > 0) return;
          origin = { at: 0, position: 0 };
          stop();
        };
        source.start(at, from);
        return source;
      });
      origin = { at, position: from };
    },
    pause() {
      if (!playing) return;
      origin = { at: 0, position: position() };
      stop();
    },
    /** @param {number} to in seconds */
    async seek(to) {
      const wasPlaying = playing;
      stopSources();
      playing = false;
      origin = { at: 0, position: Math.min(duration, Math.max(0, to)) };
      if (wasPlaying) await deck.play();
    },
    /** @param {readonly number[]} levels one for each stem */
    setGains(levels) {
      gains.forEach((gain, index) => {
        gain.gain.setTargetAtTime(levels[index] ?? 0, context.currentTime, SMOOTH_SECONDS);
      });
    },
  };
  return deck;
}

/** @typedef {Awaited<ReturnType<typeof openDeck>>} Deck */
