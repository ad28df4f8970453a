import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { SOON } from '../support/http-client.ts';
import { addReseller } from '../support/reseller.ts';

describeInBrowser('the platform in the console', () => {
  const browser = setUpBrowser();

  it('shows processes, checks, orphans, and a task that comes and goes, without a reload', async () => {
    const { http, pool } = browser.service;
    const orphan = randomUUID();
    await pool.query(
      `insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms)
       values ('volume', $1, '{}', 'making', now(), 0)`,
      [orphan],
    );
    const { page } = await browser.visit();
    await page.getByRole('link', { name: 'Platform' }).click();
    await page.getByRole('heading', { name: 'Platform', level: 1 }).waitFor();
    const rowOf = (table: string, text: string) =>
      page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: text });

    const process_ = rowOf('Processes that are alive', String(process.pid));
    await process_.getByText('answers you').waitFor();
    expect(await process_.textContent()).toMatch(/since .* ago.*nothing/);
    await rowOf('Checks, what is missing first', 'Node').getByText('ok', { exact: true }).waitFor();
    await rowOf('Infrastructure that nobody wants', orphan).waitFor();
    await page.getByRole('code').getByText('npx tradewind orphans remove --yes').waitFor();

    const aiTasks = rowOf('Work of all accounts', 'AI tasks');
    const waiting = () => aiTasks.getByRole('cell').nth(1).textContent();
    expect(await waiting()).toBe('0');
    const url = 'https://media.example.com/a.mp4';
    const made = await http.post('/streaming/ai/tasks', { task_name: 'transcription', url });
    expect(made.status, made.text).toBe(201);
    await expect.poll(waiting, SOON).toBe('1');
    await aiTasks.locator('summary').click();
    await aiTasks.getByText('transcription 1 waiting').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await http.post(`/streaming/ai/tasks/${made.body.task_id}/cancel`);
    await expect.poll(waiting, SOON).toBe('0');

    // No event tells of this.
    await pool.query(`
      insert into workers (id, host, pid) values (gen_random_uuid(), 'another-machine', 7)`);
    await rowOf('Processes that are alive', 'another-machine').waitFor();
    await pool.query(`delete from workers where host = 'another-machine'`);
    await pool.query('delete from simulated_objects where id = $1', [orphan]);
  });

  it('is offered to the platform administrator, and not to those of resellers', async () => {
    const { http } = await addReseller(browser.service, 'Curious');
    const { page } = await browser.visit({ token: http.token });
    await page.getByRole('link', { name: 'Clients' }).waitFor();
    expect(await page.getByRole('link', { name: 'Platform' }).count()).toBe(0);
  });
});
