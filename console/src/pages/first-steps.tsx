import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callOf } from '../lib/call.ts';
import type { Place } from '../lib/place.ts';
import { useWho } from '../lib/session.ts';
import { Code } from '../ui/code.tsx';
import { Copy } from '../ui/copy.tsx';
import { Section } from '../ui/page.tsx';
import { Review } from '../ui/review.tsx';

/** What to do with an account that has nothing yet. */
export function FirstSteps({ place }: { place: Place }) {
  return (
    <div className="cards">
      <Section title="Make something">
        <ul className="lines">
          <li>
            <Link to="/p/$project/r/$region/create-cluster" params={place}>
              A Kubernetes cluster
            </Link>
          </li>
          <li>
            <Link to="/p/$project/r/$region/instances/new" params={place}>
              An instance
            </Link>
          </li>
          <li>
            <Link to="/p/$project/r/$region/volumes/new" params={place}>
              A volume, with its price before it is made
            </Link>
          </li>
          <li>
            <Link to="/ai-tasks/new">The text of a recording</Link>
          </li>
        </ul>
      </Section>
      <Tools />
    </div>
  );
}

function Tools() {
  const { clientId, role } = useWho();
  const [token, setToken] = useState<string>();
  const env = `export TRADEWIND_URL=${location.origin}\nexport TRADEWIND_TOKEN=${token ?? '<a token>'}`;
  return (
    <Section title="Point your tools here">
      <div className="inside page">
        <div className="row">
          <Review
            operation="createApiToken"
            label="Make a token"
            title="Make an API token with your rights?"
            tone="primary"
            call={() =>
              callOf('post', '/iam/v2/clients/{clientId}/tokens', {
                params: { path: { clientId } },
                body: { name: 'Made in the console', exp_date: null, client_user: { role: { name: role } } },
              })
            }
            onApplied={(answer) => setToken((answer as { token: string }).token)}
          />
          <Copy text={env} label="Copy the variables" />
        </div>
        {token && (
          <p className="note warn" role="status">
            The token is shown this once. Copy it now.
          </p>
        )}
        <pre className="code">{env}</pre>
        <Code calls={[callOf('get', '/cloud/v1/projects', {})]} />
      </div>
    </Section>
  );
}
