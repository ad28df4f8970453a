import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { makeAuthority } from '../../src/backends/certificates/authority.ts';

export interface OidcIssuer {
  url: string;
  /** The certificate of the authority that the issuer's own is signed by. */
  caFile: string;
  /** Signs a token of the issuer, valid for five minutes. */
  token(claims: JWTPayload, algorithm?: 'ES256' | 'RS256'): Promise<string>;
  close(): void;
}

/** Starts an OpenID provider on https, with a certificate of its own authority. */
export async function startOidcIssuer(folder: string): Promise<OidcIssuer> {
  const authority = await makeAuthority('CN=authority of the test', 1);
  const { certificate: cert, key } = await authority.forServer('CN=issuer', ['127.0.0.1', 'localhost']);
  const caFile = path.join(folder, 'oidc-ca.crt');
  fs.writeFileSync(caFile, authority.certificate);
  const pairs = { RS256: await generateKeyPair('RS256'), ES256: await generateKeyPair('ES256') };
  const keys = await Promise.all(
    Object.entries(pairs).map(async ([alg, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid: alg,
      alg,
      use: 'sig',
    })),
  );
  const server = https.createServer({ cert, key }, (request, response) => {
    const answers: Record<string, object> = {
      '/.well-known/openid-configuration': {
        issuer: url,
        jwks_uri: `${url}/keys`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: Object.keys(pairs),
      },
      '/keys': { keys },
    };
    const answer = answers[request.url ?? ''];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    caFile,
    token: (claims, alg = 'RS256') =>
      new SignJWT(claims)
        .setProtectedHeader({ alg, kid: alg })
        .setIssuer(url)
        .setIssuedAt()
        .setExpirationTime('5 minutes')
        .sign(pairs[alg].privateKey),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
