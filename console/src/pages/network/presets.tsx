import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { useWho } from '../../lib/session.ts';
import { Choice } from '../../ui/choice.tsx';
import { Section } from '../../ui/page.tsx';
import { useGroups } from './groups.tsx';
import { databaseRules, httpRules, httpsRules, insideRules, pingRules, type Rule, sshRules } from './rules.ts';

const DATABASES: Record<string, number> = { PostgreSQL: 5432, MySQL: 3306, MongoDB: 27_017, Redis: 6379 };

/** Rules that many groups need, added to the draft by one press. */
export function Presets({ group, onAdd }: { group: string; onAdd: (rules: readonly Rule[]) => void }) {
  return (
    <Section title="Presets" aside={<span className="muted">They are added to the draft.</span>}>
      <div className="row inside">
        <button type="button" className="button" onClick={() => onAdd(httpsRules())}>
          HTTPS
        </button>
        <button type="button" className="button" onClick={() => onAdd(httpRules())}>
          HTTP
        </button>
        <button type="button" className="button" onClick={() => onAdd(pingRules())}>
          Ping
        </button>
        <button type="button" className="button" onClick={() => onAdd(insideRules(group))}>
          Everything inside the group
        </button>
      </div>
      <Ssh onAdd={onAdd} />
      <Database group={group} onAdd={onAdd} />
    </Section>
  );
}

const ADDRESS = /^[\da-f.:]+(\/\d{1,3})?$/i;

function Ssh({ onAdd }: { onAdd: (rules: readonly Rule[]) => void }) {
  const own = useOwnAddress();
  const [typed, setTyped] = useState<string>();
  const address = (typed ?? own ?? '').trim();
  return (
    <form
      className="row inside"
      onSubmit={(event) => {
        event.preventDefault();
        onAdd(sshRules(address));
      }}
    >
      <label className="row">
        SSH from my address
        <input
          className="input choice"
          value={typed ?? own ?? ''}
          placeholder="203.0.113.7"
          aria-describedby="own-address"
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <button type="submit" className="button" disabled={!ADDRESS.test(address)}>
        Add SSH
      </button>
      <span id="own-address" className="muted">
        {own && own === address
          ? 'Your last change came from this address.'
          : 'As the internet sees it: behind a company network it is not that of your computer.'}
      </span>
    </form>
  );
}

const LOCAL = /^(127\.|::1$|::ffff:127\.)/;

/** Where the person's last change came from, as the server saw it. */
function useOwnAddress(): string | undefined {
  const { userId } = useWho();
  const { data } = $api.useQuery('get', '/cloud/v1/user_actions', { params: { query: { limit: 50 } } });
  const own = data?.results.find(({ user_id }) => user_id === userId)?.source_user_ip;
  return !own || LOCAL.test(own) ? undefined : own;
}

function Database({ group, onAdd }: { group: string; onAdd: (rules: readonly Rule[]) => void }) {
  const { options } = useGroups();
  const others = options.filter(({ value }) => value !== group);
  const [name, setName] = useState('PostgreSQL');
  const [chosen, setChosen] = useState<string>();
  const from = chosen ?? others[0]?.value;
  return (
    <form
      className="row inside"
      onSubmit={(event) => {
        event.preventDefault();
        if (from) onAdd(databaseRules(DATABASES[name] ?? 5432, name, from));
      }}
    >
      <Choice
        label="Database"
        value={name}
        options={Object.entries(DATABASES).map(([value, port]) => ({ value, text: `${value} (tcp ${port})` }))}
        onChange={setName}
      />
      <Choice
        label="from another group"
        value={from ?? ''}
        options={others.length === 0 ? [{ value: '', text: 'there is no other' }] : others}
        onChange={setChosen}
      />
      <button type="submit" className="button" disabled={from === undefined}>
        Add database
      </button>
    </form>
  );
}
