import { Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useMe } from '../../space/me.ts';
import { Logo } from '../../ui/logo.tsx';
import { Page } from '../../ui/page.tsx';
import { DelayCard } from './delay-card.tsx';
import { DoctorCard } from './doctor-card.tsx';
import { QueueCard, ServicesCard } from './queue-card.tsx';
import { QuarantineCard, RetentionCard } from './retention-card.tsx';
import { StorageCard } from './storage-card.tsx';

/** The state of the installation, for its operators. Each card is loaded by itself: what does not answer says so, the others stay. */
export function InstallationPage() {
  const { spaces } = useMe();
  return (
    <div className="h-full overflow-y-auto">
      <header className="flex h-12 items-center gap-3 border-line border-b bg-sunken px-4">
        <Logo />
        {spaces.length > 0 && (
          <Link
            to="/"
            className="ml-auto flex items-center gap-1.5 text-muted text-sm hover:text-ink [&_svg]:size-4"
          >
            <ArrowLeft aria-hidden />
            Spaces
          </Link>
        )}
      </header>
      <Page
        title="Installation"
        subtitle="The state of this installation, for its operators. All figures are totals over all spaces."
      >
        <div className="flex flex-col gap-4">
          <QueueCard />
          <DelayCard />
          <DoctorCard />
          <ServicesCard />
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <RetentionCard />
            <QuarantineCard />
          </div>
          <StorageCard />
        </div>
      </Page>
    </div>
  );
}
