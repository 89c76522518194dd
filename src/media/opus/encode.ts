/** Converts MP3 to Opus packets for voice channels. Runs in a separate thread, because a song takes seconds. */
import { type MPEGDecodedAudio, MPEGDecoder } from 'mpg123-decoder';
import OpusScript from 'opusscript';
import { writePackets } from './packets.ts';
import { createResampler, type Resampler } from './resample.ts';

const RATE = 48_000;
const CHANNELS = 2;
/** 20 ms. */
const PACKET_SAMPLES = 960;
/** The bitrate of boosted servers. At half of it, cymbals sound distorted. */
const BITS_PER_SECOND = 128_000;
/** Out of 10. At this bitrate, higher values take twice the time and sound the same. */
const COMPLEXITY = 5;
/** https://opus-codec.org/docs/opus_api-1.5/group__opus__encoderctls.html */
const SET_COMPLEXITY = 4010;
/** The lookahead of libopus at 48 kHz, for music: https://www.rfc-editor.org/rfc/rfc7845#section-4.2 */
const PRE_SKIP = 312;

/** MP3 bytes to decode at once. 1 KB of the shortest frames decodes to 400 KB. */
const PIECE_BYTES = 8 * 1024;

/** Left and right. */
type Sound = readonly [Float32Array, Float32Array];

/** Yields a file of packets. Throws RangeError if the bytes contain no MP3 audio or more than `maxSeconds` of it. */
export function encodeOpus(mp3: AsyncIterable<Uint8Array>, maxSeconds: number): AsyncGenerator<Buffer> {
  return writePackets(packetsOf(soundOf(mp3, maxSeconds)));
}

async function* packetsOf(sound: AsyncIterable<Sound>): AsyncGenerator<Uint8Array> {
  const encoder = new OpusScript(RATE, CHANNELS, OpusScript.Application.AUDIO);
  try {
    encoder.setBitrate(BITS_PER_SECOND);
    encoder.encoderCTL(SET_COMPLEXITY, COMPLEXITY);
    const pcm = new Int16Array(PACKET_SAMPLES * CHANNELS);
    const bytes = Buffer.from(pcm.buffer);
    let samples = 0;
    for await (const [left, right] of sound)
      for (let index = 0; index < left.length; index += 1) {
        pcm[2 * samples] = sampleOf(left[index]);
        pcm[2 * samples + 1] = sampleOf(right[index]);
        samples += 1;
        if (samples < PACKET_SAMPLES) continue;
        yield encoder.encode(bytes, PACKET_SAMPLES);
        samples = 0;
      }
    pcm.fill(0, 2 * samples);
    if (samples > 0) yield encoder.encode(bytes, PACKET_SAMPLES);
  } finally {
    encoder.delete();
  }
}

const sampleOf = (value = 0): number => Math.round(Math.max(-1, Math.min(1, value)) * 32_767);

/** Converts to the encoder's rate and appends silence for its lookahead. */
async function* soundOf(mp3: AsyncIterable<Uint8Array>, maxSeconds: number): AsyncGenerator<Sound> {
  let seconds = 0;
  let rate = 0;
  let sides: readonly [Resampler, Resampler] | undefined;
  for await (const { channelData, sampleRate } of decode(mp3)) {
    const [left, right = left] = channelData;
    if (!left?.length || !right) continue;
    seconds += left.length / sampleRate;
    if (seconds > maxSeconds) throw new RangeError(`The audio is longer than ${maxSeconds} s`);
    if (!sides || sampleRate !== rate)
      sides = [createResampler(sampleRate, RATE), createResampler(sampleRate, RATE)];
    rate = sampleRate;
    yield [sides[0](left), sides[1](right)];
  }
  if (!sides) throw new RangeError('The file contains no MP3 audio');
  yield [sides[0](), sides[1]()];
  yield [new Float32Array(PRE_SKIP), new Float32Array(PRE_SKIP)];
}

async function* decode(mp3: AsyncIterable<Uint8Array>): AsyncGenerator<MPEGDecodedAudio> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    for await (const chunk of mp3)
      for (let at = 0; at < chunk.length; at += PIECE_BYTES)
        yield decoder.decode(chunk.subarray(at, at + PIECE_BYTES));
  } finally {
    decoder.free();
  }
}
