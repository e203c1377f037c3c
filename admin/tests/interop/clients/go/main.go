// An executor on xxl-job-executor-go, which reports a result once.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	xxl "github.com/xxl-job/xxl-job-executor-go"
)

func main() {
	app := os.Getenv("EXECUTOR_APP")
	if app == "" {
		app = "python-demo"
	}
	executor := xxl.NewExecutor(
		xxl.ServerAddr(os.Getenv("CARILLON_ADMIN")),
		xxl.AccessToken(os.Getenv("CARILLON_ACCESS_TOKEN")),
		xxl.ExecutorIp("127.0.0.1"),
		xxl.ExecutorPort(os.Getenv("EXECUTOR_LISTEN_PORT")),
		xxl.RegistryKey(app),
	)
	executor.Init()
	executor.RegTask("wait", wait)
	executor.RegTask("for-ever", forEver)
	executor.RegTask("echo", func(ctx context.Context, param *xxl.RunReq) string { return "got " + param.ExecutorParams })
	executor.RegTask("fail", func(ctx context.Context, param *xxl.RunReq) string { panic("it is broken") })
	executor.RegTask("sleep", sleep)
	executor.RegTask("part", func(ctx context.Context, param *xxl.RunReq) string {
		return fmt.Sprintf("%d of %d", param.BroadcastIndex, param.BroadcastTotal)
	})
	log.Fatal(executor.Run())
}

// Lasts until the file `go` is there; the library reports its result a moment later, and then says so in its log.
func wait(ctx context.Context, param *xxl.RunReq) string {
	for {
		if _, err := os.Stat("go"); err == nil {
			go func() {
				// The report is refused at once while nobody listens.
				time.Sleep(500 * time.Millisecond)
				_ = os.WriteFile("reported", nil, 0o644)
			}()
			return "done"
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Does not look at its context, as many handlers do not.
func forEver(ctx context.Context, param *xxl.RunReq) string {
	select {}
}

func sleep(ctx context.Context, param *xxl.RunReq) string {
	seconds, _ := strconv.Atoi(param.ExecutorParams)
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
		return "slept"
	case <-ctx.Done():
		return "stopped: " + ctx.Err().Error()
	}
}
