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
import { type Pcm, sampleRate } from '../synthesizer/recipe.ts';
import { drawScene, type Scene } from './scene.ts';

/** A film to be shot: even width and height in pixels, length in seconds, frames a second, and its sound if any. */
export interface Film {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly frameRate: number;
  readonly scene: Scene;
  readonly sound: Pcm | null;
}

/** Shoots a film as an MP4 with H.264 picture and, when it has sound, an AAC track of the same length. */
export async function shootFilm(film: Film): Promise<Uint8Array<ArrayBuffer>> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(await encodePicture(film)) });
  const track = await input.getPrimaryVideoTrack();
  const decoderConfig = await track?.getDecoderConfig();
  if (!track?.codec || !decoderConfig) throw new Error('the H.264 encoder made no video track');
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
  if (target.buffer === null) throw new Error('the MP4 writer made no file');
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

/** The sound, cut or filled with silence to the film's length, with a quarter of a second to fade out. */
function soundtrack(sound: Pcm, seconds: number): AudioSample {
  const frames = Math.floor(seconds * sampleRate);
  const data = new Int16Array(2 * frames).map((_, index) => {
    const level = Math.min(1, (frames - (index >> 1)) / (sampleRate / 4));
    return (sound[index] ?? 0) * level;
  });
  return new AudioSample({ data, format: 's16', numberOfChannels: 2, sampleRate, timestamp: 0 });
}
