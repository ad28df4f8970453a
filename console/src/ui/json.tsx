import { Copy } from './copy.tsx';

/** What the API says of a thing, as it is. */
export function Json({ of }: { of: unknown }) {
  const text = JSON.stringify(of, null, 2);
  return (
    <div className="card inside">
      <Copy text={text} label="Copy the JSON" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}
