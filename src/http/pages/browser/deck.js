/** Plays stems in step to the sample: all are started at the same moment of one clock. */
import { rateThatFits } from './mixing.js';

/** What decoded stems may take, in bytes: a phone closes a page that takes more. */
const BUDGET_BYTES = 400 * 1024 * 1024;
/** Delay before sources start, so that all start together. In seconds. */
const LEAD_SECONDS = 0.05;
/** A gain that jumps clicks. In seconds. */
const SMOOTH_SECONDS = 0.015;

/** @typedef {{ readonly name: string, readonly data: ArrayBuffer }} StemFile */

/**
 * @param {readonly StemFile[]} files
 * @param {number} seconds how long one of them is, as far as it is known
 */
export async function openDeck(files, seconds) {
  const rate = rateThatFits(seconds * files.length, BUDGET_BYTES);
  const context = new AudioContext({ sampleRate: rate, latencyHint: 'playback' });
  /** Chromium's clock stops forever if it is resumed before it has stopped. */
  let stopped = context.suspend();
  await stopped;
  /** @type {AudioBuffer[]} */
  const buffers = [];
  // One after another: each is decoded by all cores, and their memory does not add up.
  for (const { data } of files) buffers.push(await context.decodeAudioData(data.slice(0)));
  const gains = buffers.map(() => {
    const gain = new GainNode(context);
    gain.connect(context.destination);
    return gain;
  });
  const duration = Math.max(0, ...buffers.map((buffer) => buffer.duration));
  /** @type {AudioBufferSourceNode[]} */
  let sources = [];
  let playing = false;
  /** The newest call of `play`: the clock resumes slowly, and newer calls may arrive meanwhile. */
  let newest = 0;
  /** Where the stems began: a moment of the clock, and a position in them. In seconds. */
  let began = { at: 0, position: 0 };

  const halt = () => {
    for (const source of sources) {
      source.onended = null;
      source.stop();
      source.disconnect();
    }
    sources = [];
  };
  const position = () =>
    sources.length > 0
      ? Math.min(duration, Math.max(began.position, began.position + context.currentTime - began.at))
      : began.position;

  const deck = {
    buffers,
    duration,
    position,
    get playing() {
      return playing;
    },
    async play() {
      if (playing) return;
      playing = true;
      newest += 1;
      const own = newest;
      try {
        await stopped;
        if (!playing || own !== newest) return;
        await context.resume();
      } catch (error) {
        if (own === newest) playing = false;
        throw error;
      }
      if (!playing || own !== newest) return;
      const from = began.position >= duration ? 0 : began.position;
      const at = context.currentTime + LEAD_SECONDS;
      sources = buffers.map((buffer, index) => {
        const source = new AudioBufferSourceNode(context, { buffer });
        const gain = gains[index];
        if (gain) source.connect(gain);
        source.start(at, from);
        return source;
      });
      began = { at, position: from };
    },
    pause() {
      if (!playing) return;
      began = { at: 0, position: position() };
      playing = false;
      halt();
      stopped = context.suspend();
    },
    /** @param {number} to in seconds */
    async seek(to) {
      const wasPlaying = playing;
      halt();
      playing = false;
      began = { at: 0, position: Math.min(duration, Math.max(0, to)) };
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
