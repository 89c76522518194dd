/** A certificate for localhost, because voice gateways require TLS. For tests only. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUc7dW7SETBf+pH6imh9yL4mxShf4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE2NDQzMVoYDzIxMjYxMDI5
MTY0NDMxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQn16yuYliDxecSr2CdnkJQolyUwbdx1xEV/XI7OzErV48j1J2gWWg1
9c+KF87W20/y1Ym5EzQ8tvy2ZCClL/+Ao28wbTAdBgNVHQ4EFgQUovjda/amRVdg
G66sFGOaKQDZcW8wHwYDVR0jBBgwFoAUovjda/amRVdgG66sFGOaKQDZcW8wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhALhLq9DCzYuNbuDyPbQKsYunmwxr65sERfYcPsUtfJSrAiEA
mUS9n4NbqN005Ri8USsPXnDyzUamF3ZxG5NJlAgZkJI=
-----END CERTIFICATE-----`;

export const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnM1b9tj0nyxk8+dK
xndl3nGqta2vp2hL8slZmwNBmbWhRANCAAQn16yuYliDxecSr2CdnkJQolyUwbdx
1xEV/XI7OzErV48j1J2gWWg19c+KF87W20/y1Ym5EzQ8tvy2ZCClL/+A
-----END PRIVATE KEY-----`;

/** Makes this process trust the certificate. For other processes, set NODE_EXTRA_CA_CERTS. */
export function trustLocalVoice(): void {
  const trusted = getCACertificates('default');
  if (!trusted.includes(CERTIFICATE)) setDefaultCACertificates([...trusted, CERTIFICATE]);
}
