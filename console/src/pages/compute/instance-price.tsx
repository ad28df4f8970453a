import { keepPreviousData } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { paths } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { Fault } from '../../ui/fault.tsx';
import { Money } from '../../ui/money.tsx';

const PRICE = '/cloud/v2/pricing/{project_id}/{region_id}/instances';
export type PriceBody = paths[typeof PRICE]['post']['requestBody']['content']['application/json'];

const TYPING_MS = 200;

/** What an instance would cost, as the server says. Each answer belongs to its question, so a late one shows nowhere. */
export function InstancePrice({ body }: { body: PriceBody | undefined }) {
  const place = usePlace() as Place;
  const wanted = JSON.stringify(body);
  const [asked, setAsked] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), TYPING_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const { data, error, isPlaceholderData } = $api.useQuery(
    'post',
    PRICE,
    { params: { path: pathOf(place) }, body: JSON.parse(asked ?? '{}') as PriceBody },
    { enabled: asked !== undefined, placeholderData: keepPreviousData, retry: false },
  );
  const old = isPlaceholderData || asked !== wanted;
  return (
    <section className="card price" aria-labelledby="price" aria-busy={old}>
      <header>
        <h2 id="price">Price</h2>
        {old && data && <span className="muted">Asking again …</span>}
      </header>
      <div className={old ? 'inside stale' : 'inside'}>
        {error && <Fault error={error} />}
        {!data && !error && <p className="muted">Choose what it is made of.</p>}
        {data &&
          !error &&
          (data.price_status === 'show' ? <Amounts of={data} /> : <Hidden status={data.price_status} />)}
      </div>
    </section>
  );
}

const Hidden = ({ status }: { status: string }) => (
  <p className="muted">{status === 'hide' ? 'Prices are not shown to this account.' : 'This has no price.'}</p>
);

type Price = paths[typeof PRICE]['post']['responses'][200]['content']['application/json'];

function Amounts({ of }: { of: Price }) {
  const { currency_code: currency, per_month: parts, total_price_per_hour, total_price_per_month, tax_percent } = of;
  const volumes = Object.entries(parts.volumes ?? {}).filter(([, amount]) => amount);
  return (
    <dl className="facts">
      <dt>A month</dt>
      <dd>
        <strong>
          <Money amount={total_price_per_month} currency={currency} />
        </strong>
      </dd>
      <dt>An hour</dt>
      <dd>
        <Money amount={total_price_per_hour} currency={currency} />
      </dd>
      <dt>Flavor</dt>
      <dd>
        <Money amount={parts.flavor} currency={currency} />
      </dd>
      {volumes.map(([type, amount]) => (
        <div key={type} className="contents">
          <dt>Volume, {type}</dt>
          <dd>
            <Money amount={amount} currency={currency} />
          </dd>
        </div>
      ))}
      {Boolean(parts.floating_ip) && (
        <>
          <dt>Floating IP</dt>
          <dd>
            <Money amount={parts.floating_ip} currency={currency} />
          </dd>
        </>
      )}
      {Boolean(parts.external_ip) && (
        <>
          <dt>Public address</dt>
          <dd>
            <Money amount={parts.external_ip} currency={currency} />
          </dd>
        </>
      )}
      {Object.values(of.per_gb ?? {}).map((amount) => (
        <div key="traffic" className="contents">
          <dt>A GB sent out</dt>
          <dd>
            <Money amount={amount} currency={currency} />
          </dd>
        </div>
      ))}
      <dt>Tax, included</dt>
      <dd>{tax_percent} %</dd>
      <dt>Discount</dt>
      <dd>{of.discount_percent} %</dd>
    </dl>
  );
}
