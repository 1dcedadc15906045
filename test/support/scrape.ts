export interface Sample {
  /** The name without the prefix `signing_gateway_`, which metrics of the process and of Node do not have. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics of one scrape. */
export interface ScrapeResult {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** Returns the value of the only sample with at least these labels, or NaN if there is none. */
  value(name: string, labels?: Record<string, string>): number;
}

export async function scrape(adminUrl: string, headers: Record<string, string> = {}): Promise<ScrapeResult> {
  const text = await (await fetch(`${adminUrl}/metrics`, { headers })).text();
  const samples = [...text.matchAll(/^(?:signing_gateway_)?(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', label = '']) => [key, label]),
      ),
      value: Number(value),
    }),
  );
  return {
    text,
    samples,
    value(name, labels = {}) {
      const matches = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, label]) => sample.labels[key] === label),
      );
      if (matches.length > 1) throw new Error(`${matches.length} samples of ${name}`);
      return matches[0]?.value ?? Number.NaN;
    },
  };
}
