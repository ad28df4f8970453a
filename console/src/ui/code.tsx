import { useState } from 'react';
import type { Call } from '../lib/call.ts';
import { asCode, LANGUAGES, type Language } from '../lib/code.ts';
import { terraformOf } from '../lib/terraform.ts';
import { Copy } from './copy.tsx';

/** Requests as code, in the language that was chosen last. */
export function Code({ calls }: { calls: readonly Call[] }) {
  const [chosen, setChosen] = useState<Language | 'Terraform'>('curl');
  const terraform = calls.map(terraformOf).filter((one) => one !== undefined);
  const languages = terraform.length === 0 ? LANGUAGES : [...LANGUAGES, 'Terraform' as const];
  const parts = chosen === 'Terraform' ? terraform : calls.map((call) => asCode(chosen, call));
  const text = parts.join('\n\n');
  return (
    <div className="page">
      <fieldset className="row tabs">
        <legend className="hidden">Language</legend>
        {languages.map((one) => (
          <button key={one} type="button" aria-pressed={one === chosen} onClick={() => setChosen(one)}>
            {one}
          </button>
        ))}
      </fieldset>
      <p className="muted">
        {chosen === 'Terraform' ? (
          <>
            For version 2 of the provider <code>G-Core/gcore</code>.
          </>
        ) : (
          <>
            It takes an API token from the variable <code>TRADEWIND_TOKEN</code>.
          </>
        )}
      </p>
      <div>
        <Copy text={text} label="Copy the code" />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
        <pre className="code" tabIndex={0}>
          {text}
        </pre>
      </div>
    </div>
  );
}
