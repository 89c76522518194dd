import { registerAacEncoder } from '@mediabunny/aac-encoder';
import h264 from 'h264-mp4-encoder';
import {
  ALL_FORMATS,
  AudioSample,
  AudioSampleSource,
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { createRandom } from '../../random.ts';
import { type Pcm, sampleRate } from '../synthesizer/recipe.ts';
import { coveringPhoto } from './photo.ts';
import { drawScene, glow, photoElement, radialGradient, type Scene } from './scene.ts';

/** A film to render: even width and height in pixels, length in seconds, frames per second, and optional sound. */
export interface Film {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly frameRate: number;
  readonly scene: Scene;
  readonly sound: Pcm | null;
}

/** Renders a film as an MP4 with H.264 video and, if it has sound, an AAC track of the same length. */
export async function shootFilm(film: Film): Promise<Uint8Array<ArrayBuffer>> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(await encodePicture(film)) });
  const track = await input.getPrimaryVideoTrack();
  const decoderConfig = await track?.getDecoderConfig();
  if (!track?.codec || !decoderConfig) throw new Error('the H.264 encoder returned no video track');
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  const video = new EncodedVideoPacketSource(track.codec);
  output.addVideoTrack(video, { frameRate: film.frameRate });
  registerAacEncoder();
  const audio = new AudioSampleSource({ codec: 'aac', bitrate: 128_000 });
  if (film.sound !== null) output.addAudioTrack(audio);
  await output.start();
  for await (const packet of new EncodedPacketSink(track).packets())
    await video.add(packet, { decoderConfig });
  if (film.sound !== null) {
    using sample = soundtrack(film.sound, film.seconds);
    await audio.add(sample);
  }
  await output.finalize();
  if (target.buffer === null) throw new Error('the MP4 writer returned no file');
  return new Uint8Array(target.buffer);
}

async function encodePicture(film: Film): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height, frameRate, seconds, scene } = film;
  const encoder = await h264.createH264MP4Encoder();
  const groupOfPictures = Math.ceil(frameRate) * 2;
  Object.assign(encoder, { width, height, frameRate, speed: 10, quantizationParameter: 26, groupOfPictures });
  encoder.initialize();
  for (let frame = 0; frame < Math.max(1, Math.round(seconds * frameRate)); frame++)
    encoder.addFrameRgba(drawScene(scene, width, height, { time: frame / frameRate }).pixels);
  encoder.finalize();
  const file = Uint8Array.from(encoder.FS.readFile(encoder.outputFilename));
  encoder.delete();
  return file;
}

/** Cuts the sound, or pads it with silence, to the film's length. Fades out in a quarter of a second. */
function soundtrack(sound: Pcm, seconds: number): AudioSample {
  const frames = Math.floor(seconds * sampleRate);
  const data = new Int16Array(2 * frames).map((_, index) => {
    const level = Math.min(1, (frames - (index >> 1)) / (sampleRate / 4));
    return (sound[index] ?? 0) * level;
  });
  return new AudioSample({ data, format: 's16', numberOfChannels: 2, sampleRate, timestamp: 0 });
}

const barCount = 24;

/** Adds bars that follow the sound to a scene. */
export function withBars(scene: Scene, sound: Pcm, frameRate: number): Scene {
  return (frame, time) => {
    const step = frame.width / barCount;
    const bars = Array.from({ length: barCount }, (_, bar) => {
      const from = Math.floor((time + (bar / barCount - 0.5) / frameRate) * sampleRate);
      const level = loudness(sound, from, Math.floor(sampleRate / frameRate / barCount));
      return `M${step * (bar + 0.17)} ${frame.height - 1.5}v${-35 * level - 0.1}h${step * 0.66}v${35 * level + 0.1}Z`;
    });
    return `${scene(frame, time)}<path fill="#ffffff" fill-opacity=".6" d="${bars.join('')}"/>`;
  };
}

/** Root mean square of a range of samples, 0 to about 1. */
function loudness(pcm: Pcm, from: number, length: number): number {
  const samples = pcm.subarray(2 * Math.max(0, from), 2 * Math.max(0, from + length));
  const sum = samples.reduce((total, sample) => total + (sample / 32768) ** 2, 0);
  return Math.min(1, Math.sqrt(sum / Math.max(1, 2 * length)) * 1.6);
}

/** Creates a slow camera move over an image, with specks of light. Throws UnusableInputError. */
export async function panOver(
  photo: Uint8Array,
  prompt: string,
  film: { readonly width: number; readonly height: number; readonly seconds: number },
): Promise<Scene> {
  const zoomed = 1.18;
  const size = { width: Math.round(film.width * zoomed), height: Math.round(film.height * zoomed) };
  const { data } = await coveringPhoto(photo, size);
  return (frame, time) => {
    const random = createRandom(`${prompt} camera`);
    const part = time / film.seconds;
    const scale = 1 + (zoomed - 1) * part;
    const shift = (length: number): number => -length * (scale - 1) * (0.5 + (random.next() - 0.5) * part);
    const specks = Array.from({ length: 14 }, (_, speck) => {
      const x = ((random.next() + time * random.between(-0.03, 0.03) + 1) % 1) * frame.width;
      const y = ((random.next() - time * random.between(0.02, 0.06) + 1) % 1) * frame.height;
      return glow('speck', x, y, random.between(2, 5) * (1 + 0.3 * Math.sin(time * 2 + speck)));
    });
    return (
      `<g transform="translate(${shift(frame.width)} ${shift(frame.height)}) scale(${scale})">` +
      `${photoElement(data, frame)}</g>${radialGradient('speck', '#fffae2', 0.4)}${specks.join('')}`
    );
  };
}
