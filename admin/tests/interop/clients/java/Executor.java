import com.xxl.job.core.context.XxlJobHelper;
import com.xxl.job.core.executor.impl.XxlJobSimpleExecutor;
import com.xxl.job.core.handler.annotation.XxlJob;
import java.util.List;

/** An executor without a framework, on the jar of xxl-job that is on the class path. */
public class Executor {
    @XxlJob("echo")
    public void echo() {
        XxlJobHelper.log("got " + XxlJobHelper.getJobParam());
        XxlJobHelper.handleSuccess("got " + XxlJobHelper.getJobParam());
    }

    @XxlJob("fail")
    public void fail() {
        XxlJobHelper.handleFail("it is broken");
    }

    @XxlJob("sleep")
    public void sleep() throws InterruptedException {
        XxlJobHelper.log("sleeps");
        Thread.sleep(1000L * Integer.parseInt(XxlJobHelper.getJobParam()));
    }

    @XxlJob("part")
    public void part() {
        XxlJobHelper.handleSuccess(XxlJobHelper.getShardIndex() + " of " + XxlJobHelper.getShardTotal());
    }

    public static void main(String[] arguments) throws Exception {
        XxlJobSimpleExecutor executor = new XxlJobSimpleExecutor();
        executor.setAdminAddresses(System.getenv("CARILLON_ADMIN") + "/xxl-job-admin");
        executor.setAccessToken(System.getenv("CARILLON_ACCESS_TOKEN"));
        executor.setAppname(System.getenv("EXECUTOR_APP"));
        executor.setIp("127.0.0.1");
        executor.setPort(Integer.parseInt(System.getenv("EXECUTOR_LISTEN_PORT")));
        executor.setLogPath("logs");
        executor.setLogRetentionDays(3);
        executor.setXxlJobBeanList(List.of(new Executor()));
        executor.start();
        Runtime.getRuntime().addShutdownHook(new Thread(executor::destroy));
        Thread.currentThread().join();
    }
}
