/** The route families of the contract, and `none` for everything else. */
export type RouteFamily = 'music' | 'media' | 'chat' | 'msg' | 'gen' | 'files' | 'none';

/** The family that a path belongs to, by its leading segments. */
export function routeFamily(path: string): RouteFamily {
  if (path.startsWith('/music/')) return 'music';
  if (path.startsWith('/media/') || path.startsWith('/v1/media/')) return 'media';
  if (path.startsWith('/chat/')) return 'chat';
  if (path.startsWith('/msg/')) return 'msg';
  if (path.startsWith('/gen/') || path.startsWith('/v1beta/')) return 'gen';
  if (path.startsWith('/files/')) return 'files';
  return 'none';
}

/** The path of a request's URL, without its query. */
export function pathOf(url: string): string {
  return url.replace(/\?.*$/s, '');
}
