import type { CallOptions } from './answers.ts';
import type { GatewayErrorCode } from './errors.ts';
import type { ImageRequest, VideoRequest } from './media-requests.ts';

export * from './media-requests.ts';

export interface ImageResult {
  /** Addresses, http(s) or `data:` with base64 where the gateway sends the picture itself. Never empty. */
  images: string[];
  /** Pixels. */
  width?: number;
  height?: number;
  requestId?: string;
}

export type VideoStatus = 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'unknown';

export interface VideoTask {
  taskId?: string;
  status: VideoStatus;
  /** Always there when `status` is `succeeded`; temporary (contract, "Limits" 3). */
  videoUrl?: string;
  durationSeconds?: number;
  /** The prompt after the provider's expansion. */
  actualPrompt?: string;
  failure?: { code: GatewayErrorCode; gatewayCode?: string; message?: string };
}

/** Contract, "Media ({base_url}/...)". Every method throws GatewayError only. */
export interface MediaRoutes {
  createImage(request: ImageRequest, options?: CallOptions): Promise<ImageResult>;
  createVideo(request: VideoRequest, options?: CallOptions): Promise<{ taskId: string; status: VideoStatus }>;
  queryVideo(taskId: string, options?: CallOptions): Promise<VideoTask>;
}
