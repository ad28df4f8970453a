import { encode } from 'uqr';
import { Copy } from './copy.tsx';

export interface NewApp {
  secret: string;
  uri: string;
}

/** What an app that makes codes needs: a picture for its camera, and the same as a text. */
export function AppSetup({ secret, uri }: NewApp) {
  const { data, size } = encode(uri, { border: 4 });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <>
      <p>
        Scan this with an app that makes codes, such as the one for passwords on your phone. On the phone itself,{' '}
        <a href={uri}>open the app</a>.
      </p>
      <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code for the app">
        <path d={squares.join('')} />
      </svg>
      <p className="row">
        <span>Or type</span> <code className="name">{secret}</code> <Copy text={secret} label="Copy the secret" />
      </p>
    </>
  );
}

/** Ten texts that are shown once. */
export function CodeList({ codes }: { codes: readonly string[] }) {
  return (
    <>
      <p>
        Each of these recovery codes signs you in once, when you don’t have your second factor. Keep them where you find
        them without it. They are shown only this once.
      </p>
      <ul className="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Copy text={codes.join('\n')} label="Copy the recovery codes" />
    </>
  );
}
