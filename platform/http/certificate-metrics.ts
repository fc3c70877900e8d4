import { defineGauge } from '../metrics/define.ts';

/** @param readDaysLeft called at each scrape. */
export function defineDaysLeft(readDaysLeft: () => number): void {
  defineGauge({
    name: 'weir_tls_certificate_days_left',
    help: 'Days until the certificate that the service serves expires; negative when it has expired.',
    collect() {
      this.set(readDaysLeft());
    },
  });
}
